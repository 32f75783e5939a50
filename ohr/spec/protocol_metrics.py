"""The metrics of the protocol of a spec's benchmark."""

from ohr.contracts import AnyMetric
from ohr.registry import Registry
from ohr.spec.model import Spec


def protocol_metrics(spec: Spec) -> dict[str, AnyMetric]:
    """Make the metrics of the protocol of a spec's benchmark, by name."""
    registry, protocol = Registry(spec.plugin_files), spec.benchmark.scoring
    metrics: dict[str, AnyMetric] = {}
    for name in protocol.metrics:
        fields = {"kind": name, **protocol.metric_fields.get(name, {})}
        metric = registry.load("metric", str(fields["kind"])).model_validate(fields)
        if isinstance(metric, AnyMetric):  # the registry has checked it; this is for the type checker
            metrics[name] = metric
    return metrics
