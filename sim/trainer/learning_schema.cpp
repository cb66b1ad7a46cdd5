// sim/trainer/learning_schema.cpp: the keys of [learning].
#include "sim/trainer/learning_schema.h"

#include "optim/csv_task.h"
#include "optim/optimizer_schema.h"
#include "optim/text_task.h"

namespace sim::trainer {

using base::above;
using base::at_least;
using base::between;
using base::Choices;
using base::SchemaOf;
using optim::ModelKind;
using optim::TaskKind;

namespace {

void add_model_keys(SchemaOf<LearningOptions>& schema) {
  const auto of = [](auto member) {
    return [member](auto& learning) -> auto& { return learning.model.*member; };
  };
  using M = optim::ModelOptions;
  schema
      .choice("model", of(&M::kind),
              Choices<ModelKind>{{"none", ModelKind::kNone},
                                 {"quadratic", ModelKind::kQuadratic},
                                 {"softmax", ModelKind::kSoftmax},
                                 {"mlp", ModelKind::kMlp},
                                 {"transformer", ModelKind::kTransformer}},
              "none", "none: only time is simulated")
      .integer("hidden", of(&M::hidden), between(1, 1e5), 64, "width of each hidden layer")
      .only("model", {"mlp"})
      .integer("layers", of(&M::layers), between(1, 63), 1, "hidden layers")
      .only("model", {"mlp"})
      // Width, heads, layers and context: 90,000 parameters with 64 symbols (assumed).
      .integer("layers", of(&M::layers), between(1, 64), 3, "blocks of attention and perceptron")
      .only("model", {"transformer"})
      .integer("width", of(&M::width), between(1, 4096), 48, "floats per position")
      .only("model", {"transformer"})
      .integer("heads", of(&M::heads), between(1, 4096), 3, "must divide the width")
      .only("model", {"transformer"})
      .real("condition_number", of(&M::condition_number), at_least(1), 100.0,
            "largest over smallest curvature")
      .only("model", {"quadratic"});
}

void add_task_keys(SchemaOf<LearningOptions>& schema) {
  const auto of = [](auto member) {
    return [member](auto& learning) -> auto& { return learning.task.*member; };
  };
  using T = optim::TaskOptions;
  schema
      .choice("task", of(&T::kind),
              Choices<TaskKind>{{"markov", TaskKind::kMarkov},
                                {"teacher", TaskKind::kTeacher},
                                {"quadratic", TaskKind::kQuadratic},
                                {"text", TaskKind::kText},
                                {"csv", TaskKind::kCsv}},
              "markov", "where examples come from")
      .integer("inputs", of(&T::inputs), between(1, 1e6), 64, "features, or dimension (quadratic)")
      .only("task", {"teacher", "quadratic"})
      .integer("classes", of(&T::classes), between(2, 1e5), 16,
               "classes (teacher) or symbols (markov)")
      .only("task", {"teacher", "markov"})
      .integer("context", of(&T::context), between(1, 1000), 2,
               "symbols that an example shows (text: bytes)")
      .only("task", {"markov", "text"})
      .only("model", {"none", "quadratic", "softmax", "mlp"})
      .integer("context", of(&T::context), between(1, 1000), 32,
               "positions of an example, each with the next symbol as its target")
      .only("task", {"markov", "text"})
      .only("model", {"transformer"})
      .real("noise", of(&T::noise), between(0, 1), 0.0, "probability of a flipped label")
      .only("task", {"teacher"})
      .real("noise", of(&T::noise), at_least(0), 0.1,
            "standard deviation of the optimum's shift per example")
      .only("task", {"quadratic"})
      .real("sharpness", of(&T::sharpness), above(0), 2.0,
            "larger makes transitions more predictable")
      .only("task", {"markov"})
      .integer("held_out", of(&T::held_out_examples), between(1, 1e7), 512,
               "examples of the fixed held-out set (text: from the last tenth of the file)")
      .only("task", {"markov", "teacher", "quadratic", "text"});
}

void add_data_keys(SchemaOf<LearningOptions>& schema) {
  const auto of = [](auto member) {
    return [member](auto& learning) -> auto& { return learning.data.*member; };
  };
  using D = DataOptions;
  schema
      .text("file", of(&D::file), base::kRequired,
            "text: any file, read byte by byte; csv: a header line, then numbers and one class per "
            "row; beside the scenario unless it is absolute")
      .only("task", {"text", "csv"})
      .text("target", of(&D::target), std::string_view(""),
            "column that holds the class; empty: the last one")
      .only("task", {"csv"})
      .text("checksum", of(&D::checksum), std::string_view(""),
            "of the file's content, 16 hex digits; empty: any content")
      .only("task", {"text", "csv"});
}

void add_shard_keys(SchemaOf<LearningOptions>& schema) {
  const auto of = [](auto member) {
    return [member](auto& learning) -> auto& { return learning.task.shards.*member; };
  };
  using S = optim::ShardOptions;
  using optim::ShardKind;
  schema
      .choice("shards", of(&S::kind),
              Choices<ShardKind>{{"iid", ShardKind::kIid},
                                 {"dirichlet", ShardKind::kDirichlet},
                                 {"contiguous", ShardKind::kContiguous}},
              "iid", "what a slot of the batch sees: the same as all, or its shard's own part")
      .integer("shard_count", of(&S::count), between(0, 16777216), 0,
               "equal stretches of the batch's slots, the same for every arm; 0: one per island of "
               "the fleet")
      .only("shards", {"dirichlet", "contiguous"})
      .real("concentration", of(&S::concentration), base::above_to(0, 1e6), 0.5,
            "of the Dirichlet shares of classes; small is far from iid (assumed)")
      .only("shards", {"dirichlet"});
}

}  // namespace

const SchemaOf<LearningOptions>& learning_schema() {
  using L = LearningOptions;
  static const auto schema = [] {
    SchemaOf<L> built;
    add_model_keys(built);
    add_task_keys(built);
    add_data_keys(built);
    add_shard_keys(built);
    built
        .integer("batch", &L::batch, between(1, 16777216), 64,
                 "examples per global step, at least one per slice in use")
        .table("schedule", &L::schedule, optim::schedule_schema(), "factor on the learning rate")
        .integer("evaluations", &L::evaluations, between(1, 10000), 200,
                 "points of the token grid at which the held-out loss is taken");
    return built;
  }();
  return schema;
}

void complete(LearningOptions& learning) {
  optim::TaskOptions& task = learning.task;
  task.shards.slots = static_cast<std::size_t>(learning.batch);
  if (task.kind == TaskKind::kText && task.text != nullptr) {
    task.classes = task.text->alphabet.size();
    task.inputs = task.classes * task.context;
  }
  if (task.kind == TaskKind::kCsv && task.table != nullptr) {
    task.classes = task.table->classes.size();
    task.inputs = task.table->columns;
    task.held_out_examples = optim::held_out_rows(task.table->rows());
  }
  if (task.kind == TaskKind::kMarkov) task.inputs = task.classes * task.context;
  if (task.kind == TaskKind::kQuadratic) task.classes = 0;
  task.form = learning.model.kind == ModelKind::kTransformer ? optim::ExampleForm::kTokens
                                                             : optim::ExampleForm::kFeatures;
  learning.model.context = task.context;
  learning.model.inputs = task.inputs;
  learning.model.outputs = task.classes;
}

}  // namespace sim::trainer
