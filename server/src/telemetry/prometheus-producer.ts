import type { HrTime } from '@opentelemetry/api';
import { hrTime } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  DataPointType,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { MetricObjectWithValues, MetricValue, MetricValueWithName, Registry } from 'prom-client';

type Metric = MetricObjectWithValues<MetricValue<string>>;
type Labels = Readonly<Record<string, string | number>>;

/** Reads the metrics of `/metrics`, with the same names, so that each is declared once. */
export function prometheusProducer(registry: Registry): MetricProducer {
  const startTime = hrTime(performance.timeOrigin);
  return {
    async collect(): Promise<CollectionResult> {
      const metrics = (await registry.getMetricsAsJSON()) as unknown as readonly Metric[];
      const endTime = hrTime();
      const converted = metrics.flatMap((metric) => convert(metric, startTime, endTime) ?? []);
      const scope = { name: 'crossward' };
      return {
        resourceMetrics: { resource: emptyResource(), scopeMetrics: [{ scope, metrics: converted }] },
        errors: [],
      };
    },
  };
}

function convert(metric: Metric, startTime: HrTime, endTime: HrTime): MetricData | undefined {
  const base = {
    descriptor: { name: metric.name, description: metric.help, unit: '', valueType: 1 },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const points = () =>
    metric.values.map(({ labels, value }) => ({ startTime, endTime, attributes: textLabels(labels as Labels), value }));
  // Types of prom-client are an enum in its declarations and words when it runs.
  switch (String(metric.type)) {
    case 'counter':
      return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() };
    case 'gauge':
      return { ...base, dataPointType: DataPointType.GAUGE, dataPoints: points() };
    case 'histogram': {
      const dataPoints = histograms(metric).map(({ labels, ...value }) => ({
        startTime,
        endTime,
        attributes: labels,
        value,
      }));
      return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints };
    }
    default:
      return undefined;
  }
}

function textLabels(labels: Labels): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
}

interface Histogram {
  readonly labels: Record<string, string>;
  buckets: { boundaries: number[]; counts: number[] };
  sum: number;
  count: number;
}

/** One for each combination of labels. Buckets of Prometheus include those below them, buckets of OpenTelemetry do not. */
function histograms({ name, values }: Metric): Histogram[] {
  const found = new Map<string, Histogram & { below: number }>();
  for (const { labels, value, metricName } of values as readonly MetricValueWithName<string>[]) {
    const { le, ...own } = labels as Labels;
    const key = JSON.stringify(own);
    const histogram = found.get(key) ?? {
      labels: textLabels(own),
      buckets: { boundaries: [], counts: [] },
      sum: 0,
      count: 0,
      below: 0,
    };
    found.set(key, histogram);
    if (metricName === `${name}_sum`) histogram.sum = value;
    else if (metricName === `${name}_count`) histogram.count = value;
    else {
      // They come in order, +Inf at the end.
      if (le !== '+Inf') histogram.buckets.boundaries.push(Number(le));
      histogram.buckets.counts.push(value - histogram.below);
      histogram.below = value;
    }
  }
  return [...found.values()].map(({ below, ...histogram }) => histogram);
}
