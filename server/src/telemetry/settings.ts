/** How traces are exported. The exporters read addresses and headers from the standard variables. */
export interface TelemetrySettings {
  readonly protocol: OtlpProtocol;
  /** The part of the traces to record, from 0 to 1. */
  readonly ratio: number;
  /** When ended spans are exported, and how many wait at most: more are dropped. */
  readonly batches: {
    readonly scheduledDelayMillis: number;
    readonly exportTimeoutMillis: number;
    readonly maxQueueSize: number;
    readonly maxExportBatchSize: number;
  };
}

export type OtlpProtocol = 'http/protobuf' | 'http/json';
