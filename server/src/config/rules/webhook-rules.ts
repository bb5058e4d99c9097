import type { Mistake } from '../mistakes/mistake.ts';
import { defaultEventDays } from '../schema/schema.ts';
import type { PartialFile } from './partial-file.ts';

const daySeconds = 86_400;

/** An event must be stored for longer than the gateway tries to deliver it. */
export function webhookMistakes({ retention, webhooks }: PartialFile): Mistake[] {
  const days = retention && 'event_days' in retention ? retention.event_days : defaultEventDays;
  const pauses = webhooks?.retry_seconds;
  if (days === undefined || pauses === undefined) return [];
  const total = pauses.reduce<number>((sum, pause) => sum + (pause ?? 0), 0);
  if (total < days * daySeconds) return [];
  const text = `the pauses total ${total} seconds; events are deleted after ${days} days (retention.event_days), which is ${days * daySeconds} seconds`;
  return [{ path: ['webhooks', 'retry_seconds'], at: 'value', text }];
}
