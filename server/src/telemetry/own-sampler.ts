import { type Context, TraceFlags, trace } from '@opentelemetry/api';
import { type Sampler, SamplingDecision, type SamplingResult } from '@opentelemetry/sdk-trace';

/**
 * Decides for each trace of this gateway alone. Neither the flag nor the trace id of a caller counts: with them, a caller could
 * hide its requests, or make the gateway export all of them.
 *
 * @param ratio the part of the traces to record, from 0 to 1
 */
export function ownSampler(ratio: number): Sampler {
  return {
    shouldSample(context: Context): SamplingResult {
      const parent = trace.getSpanContext(context);
      const isRecorded =
        parent && !parent.isRemote ? (parent.traceFlags & TraceFlags.SAMPLED) !== 0 : Math.random() < ratio;
      return { decision: isRecorded ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD };
    },
    toString: () => `OwnSampler{${ratio}}`,
  };
}
