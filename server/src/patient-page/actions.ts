import { recordedAccess } from '../api/recorded-access.ts';
import { asWrite } from '../appointments/as-write.ts';
import { planChange, planChanges } from '../appointments/plan-change.ts';
import { planRelease } from '../appointments/plan-release.ts';
import { planResend } from '../appointments/resend/plan.ts';
import type { AppointmentPlan } from '../appointments/write/plan.ts';
import { isGatewayId } from '../confirmations/items.ts';
import { within } from '../context/work-context.ts';
import { Problem } from '../problems/problem.ts';
import type { Reason } from '../problems/reasons.ts';
import { write } from '../writes/write.ts';
import type { PlannedWrite } from '../writes/write-kind.ts';
import { type LinkedPage, pageAccessOf } from './load.ts';

/** What the patient wants to do: the field `action` of the form. */
export const actions = ['confirm', 'resend', 'cancel'] as const;
export type Action = (typeof actions)[number];

/** The result of an action, if the state of the page does not show it. Part of the page's URL. */
export const results = [
  'malformed',
  'incorrect',
  'sent',
  'too_soon',
  'resend_limit',
  'patient_limit',
  'no_contact',
  'taken',
  'unknown',
  'unavailable',
  'rejected',
] as const;
export type Result = (typeof results)[number];

const resultOf: Partial<Record<Reason, Result>> = {
  confirmation_code_incorrect: 'incorrect',
  rate_limited: 'too_soon',
  resend_limit_reached: 'resend_limit',
  patient_limit_reached: 'patient_limit',
  client_limit_reached: 'unavailable',
  no_contact_channel: 'no_contact',
  time_slot_unavailable: 'taken',
  outcome_unknown: 'unknown',
  ehr_timeout: 'unknown',
  idempotency_in_progress: 'unknown',
  partially_applied: 'unknown',
  ehr_unavailable: 'unavailable',
  ehr_paused: 'unavailable',
  database_unavailable: 'unavailable',
};

/** Reasons that the state of the page shows. */
const shownByState: readonly Reason[] = ['confirmation_expired', 'confirmation_locked', 'confirmation_not_pending'];

interface Outcome {
  readonly result?: Result | undefined;
  /** For the log. */
  readonly problem?: Problem;
}

/**
 * Does what the patient asked for, exactly as the API does it for the client that started the confirmation.
 *
 * @param code what the patient typed
 */
export async function actOnPage(page: LinkedPage, action: Action, code: string, requestId: string): Promise<Outcome> {
  const ids = page.confirmation.items
    .filter(({ state }) => state === 'pending' || state === 'confirming')
    .map(({ id }) => id);
  if (ids.length === 0) return {};
  const digits = action === 'confirm' ? readCode(page, code) : '';
  if (digits === undefined) return { result: 'malformed' };
  const outcomeOf = ({ problem }: Outcome) => problem?.reason ?? 'success';
  const access = { ...pageAccessOf(page, `${action}_on_patient_page`, requestId), outcomeOf };
  return recordedAccess(page.context.services.audit, access, () => run(page, action, ids, digits, requestId));
}

async function run(
  page: LinkedPage,
  action: Action,
  ids: readonly string[],
  digits: string,
  requestId: string,
): Promise<Outcome> {
  const { client, ehr, careUnit, services } = page.context;
  const request = { clientId: client.id, ehr, careUnit, requestId, keyed: undefined, begin: async () => undefined };
  const plan = () => planFor(page, action, ids, digits);
  try {
    await within({ clientId: client.id }, () => write(services, { ...request, plan }));
    return action === 'resend' ? { result: 'sent' } : {};
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (shownByState.includes(error.reason)) return { problem: error };
    // Nobody can take a held time. Staff have cancelled it, which its state says.
    if (error.reason === 'time_slot_unavailable' && !ids.some(isGatewayId)) return { problem: error };
    const result = resultOf[error.reason] ?? (error.reason === 'internal_error' ? undefined : 'rejected');
    if (!result) throw error;
    return { result, problem: error };
  }
}

async function planFor(
  { confirmation, context }: LinkedPage,
  action: Action,
  ids: readonly string[],
  code: string,
): Promise<PlannedWrite> {
  const [first = ''] = ids;
  switch (action) {
    case 'confirm':
      return asWrite(context, await planConfirmed(context, ids, code), code);
    case 'resend':
      return planResend(context, first);
    case 'cancel':
      if (confirmation.kind === 'cancellation') throw new Problem('confirmation_not_pending');
      return asWrite(context, await planRelease(context, ids));
  }
}

function planConfirmed(context: LinkedPage['context'], ids: readonly string[], code: string): Promise<AppointmentPlan> {
  const [first = ''] = ids;
  return ids.length === 1
    ? planChange(context, first, { confirmation: { code } }, noHeaders)
    : planChanges(context, { ids: [...ids], confirmation: { code } }, noHeaders);
}

function noHeaders(): undefined {
  return undefined;
}

/** The digits of a code, without spaces and hyphens. `undefined` if it cannot be a code: it then counts as no attempt. */
function readCode({ context }: LinkedPage, typed: string): string | undefined {
  const code = typed.replace(/[\s\p{Pd}]/gu, '');
  const { length } = context.careUnit.code;
  return new RegExp(`^\\d{${length}}$`).test(code) ? code : undefined;
}
