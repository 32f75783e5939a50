"""The metrics of a run, and the rules by which they score."""

from dataclasses import dataclass
from functools import cached_property

from ohr.contracts import AnyMetric
from ohr.metrics.scores import Rules
from ohr.registry import Registry
from ohr.spec.model import Spec


@dataclass(frozen=True)
class Scored:
    """Metrics and rules of a spec."""

    spec: Spec

    @cached_property
    def metrics(self) -> dict[str, AnyMetric]:
        """The metrics of the benchmark's protocol, and the spec's own, by name."""
        return protocol_metrics(self.spec) | {named.name: named.stage for named in self.spec.metrics}

    @cached_property
    def answer_metrics(self) -> dict[str, AnyMetric]:
        """The metrics of answers: the protocol's, then the spec's own."""
        return {name: self.metrics[name] for name in self.rules.answer_metrics}

    @cached_property
    def page_metrics(self) -> dict[str, AnyMetric]:
        """The metrics of pages: the protocol's, then the spec's own."""
        return {name: self.metrics[name] for name in self.rules.page_metrics}

    @cached_property
    def ranking_metrics(self) -> dict[str, AnyMetric]:
        """The metrics of rankings beside the headline: the protocol's, then the spec's own."""
        return {name: self.metrics[name] for name in self.rules.ranking_metrics}

    @cached_property
    def rules(self) -> Rules:
        """The rules of scoring: with questions, texts and answers, they determine the scores."""
        further = tuple(named.name for named in self.spec.metrics)
        return Rules(self.spec.benchmark.scoring, self.metrics, further, self.spec.seed)


def protocol_metrics(spec: Spec) -> dict[str, AnyMetric]:
    """Make the metrics of the protocol of a spec's benchmark, by name."""
    registry, protocol = Registry(spec.plugin_files), spec.benchmark.scoring
    found: dict[str, AnyMetric] = {}
    for name in protocol.metrics:
        fields = {"kind": name, **protocol.metric_fields.get(name, {})}
        metric = registry.load("metric", str(fields["kind"])).model_validate(fields)
        if isinstance(metric, AnyMetric):  # the registry has checked it; this is for the type checker
            found[name] = metric
    return found
