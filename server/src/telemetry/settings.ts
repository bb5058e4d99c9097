/** What is exported, and how. The SDK reads addresses, headers and limits from the standard variables. */
export interface TelemetrySettings {
  readonly traces: boolean;
  readonly metrics: boolean;
  readonly tracesProtocol: OtlpProtocol;
  readonly metricsProtocol: OtlpProtocol;
  /** The part of the traces to record, from 0 to 1. */
  readonly ratio: number;
  readonly metricIntervalMs: number;
  readonly metricTimeoutMs: number;
}

export type OtlpProtocol = 'http/protobuf' | 'http/json';
