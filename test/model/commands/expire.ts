import fc from 'fast-check';
import { pick } from '../inputs.ts';
import { type Code, entriesOf, type Model } from '../model.ts';
import { codeOf } from '../outcome.ts';
import { picked, steps } from '../step.ts';

/** A booking is cancelled. A cancellation leaves the appointment booked. */
function expire(model: Model, code: Code): void {
  for (const entry of entriesOf(model)) {
    if (entry.code !== code || entry.waiting !== 'pending') continue;
    entry.waiting = 'expired';
    if (entry.kind === 'booking') entry.state = 'cancelled';
  }
}

const input = fc.record({ target: pick('awaiting_confirmation'), runsJobs: fc.boolean() });

/** The result is the same before and after the expiry job runs. */
export const expiries = steps('expire', input, async ({ target, runsJobs }, model, real) => {
  const id = picked(model, target);
  const code = codeOf(model, id);
  if (!code) return `expire ${id}, which awaits no code`;
  await real.expire(code);
  expire(model, code);
  if (runsJobs) await real.runBackgroundJobs();
  return `expire the code of ${code.ids.join(', ')}${runsJobs ? ', and run background jobs' : ''}`;
});
