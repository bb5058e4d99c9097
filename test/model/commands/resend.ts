import fc from 'fast-check';
import { options, pick } from '../inputs.ts';
import type { Model } from '../model.ts';
import { codeOf, notInPath, type Outcome, rejection, shown } from '../outcome.ts';
import { outcomeWords, picked, steps, withoutDryRun, write } from '../step.ts';

const maxCodes = 3;

/** Replaces the code and restarts its lifetime. The remaining attempts stay the same. */
function resend(model: Model, id: string): Outcome {
  const entry = model.entries.get(id);
  if (!entry) return notInPath;
  const { code, waiting } = entry;
  if (!code || (waiting !== 'pending' && waiting !== 'expired')) return rejection('confirmation_not_pending');
  if (code.attempts === 0) return rejection('confirmation_locked');
  if (waiting === 'expired') return rejection('confirmation_expired');
  if (code.sent === maxCodes) return rejection('resend_limit_reached');
  if (code.isFresh) return rejection('rate_limited');
  code.sent += 1;
  code.isFresh = true;
  return shown(id, 'updated');
}

const input = fc.record({
  target: pick('awaiting_confirmation', 'awaiting_confirmation', 'all'),
  isLater: fc.integer({ min: 0, max: 3 }).map((it) => it > 0),
  options,
});

export const resends = steps('resend', input, async ({ target, isLater, options: how }, model, real) => {
  const id = picked(model, target);
  const code = codeOf(model, id);
  if (code && isLater) {
    await real.allowResend(code);
    code.isFresh = false;
  } else if (code?.isFresh) {
    await real.preventResend(code);
  }
  const outcome = await write(
    model,
    real,
    {
      method: 'POST',
      path: `/appointments/${real.id(id)}/confirmation`,
      success: 202,
      options: withoutDryRun(how),
    },
    (it) => resend(it, id),
  );
  if (code && !('reason' in outcome)) await real.codeIsSuperseded(model, code);
  return `resend ${id}${isLater ? ' half a minute later' : ''} ${outcomeWords(outcome)}`;
});
