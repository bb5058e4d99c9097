import { expect } from 'vitest';
import { withEhr } from '../../../test/ehrs/other-ehrs.ts';
import { type Gateway, type GatewayResponse, type Problem, startGateway } from '../../../test/gateway/gateway.ts';
import { type Appointment, book, oslo, type Slot } from '../../../test/requests/bookings.ts';
import { careUnitOf, eventually, rowsOf } from '../../../test/requests/codes.ts';

export type Preview = Omit<Appointment, 'id'> & { readonly id: string | null; readonly change: string };
export type Previews = { readonly appointments: readonly Preview[] };

export const dryRun = '?dry_run=true';

const tables = ['confirmations', 'confirmation_items', 'messages', 'demo_mailbox', 'operations'];
const emrs = ['sandbox-no', 'sandbox-se', 'sandbox-uk', 'few-pending'];

/** The confirmation that a dry run shows for a code that would be created. */
export const futureConfirmation = (kind: string, channel = 'sms') => ({
  id: null,
  kind,
  channel,
  delivery: null,
  expires_at: null,
  attempts_remaining: 5,
  page_url: null,
});

/** Starts a gateway. In `few-pending`, a patient may have one unconfirmed booking. */
export const startForDryRuns = (): Promise<Gateway> =>
  startGateway({
    configure: (demo) =>
      withEhr(demo, {
        id: 'few-pending',
        like: 'sandbox-se',
        policies: { limits_per_patient: { pending: 1, codes_per_hour: 100 } },
      }),
  });

/** Dry runs of a gateway. */
export function dryRunsOf(gateway: Gateway) {
  function send<Body>(careUnit: string, method: string, path: string, body: object, query: string) {
    return gateway.request<Body>(method, `${careUnit}/appointments${path}${query}`, { body });
  }

  /** All rows that a write could change. Waits until no message is being sent. */
  async function everything(): Promise<Record<string, unknown>> {
    await eventually(async () => {
      expect(await rowsOf(gateway, `SELECT FROM messages WHERE state = 'queued'`)).toEqual([]);
    });
    const found: Record<string, unknown> = {};
    for (const table of tables) {
      found[table] = await rowsOf(gateway, `SELECT to_jsonb(t) AS row FROM ${table} AS t ORDER BY to_jsonb(t)::text`);
    }
    for (const emr of emrs) found[emr] = await gateway.ehr(emr).everything();
    return found;
  }

  /** Sends a dry run, and checks that it changed nothing. */
  async function look<Body>(careUnit: string, method: string, path: string, body: object): Promise<Body> {
    const before = await everything();
    const { status, headers, body: response, text } = await send<Body>(careUnit, method, path, body, dryRun);
    expect({ status, text }).toMatchObject({ status: 200 });
    expect(headers).not.toHaveProperty('location');
    expect(await everything()).toEqual(before);
    return response;
  }

  /** Checks that the dry run and the request get the same problem, and that neither changes anything. */
  async function expectSameProblem(
    careUnit: string,
    method: string,
    path: string,
    body: object,
    expected: { status: number; reason: string },
  ): Promise<void> {
    const before = await everything();
    const comparable = ({
      status,
      body: { request_id: _, ...problem },
    }: GatewayResponse<Problem & { request_id: string }>) => ({
      status,
      problem,
    });
    const looked = comparable(await send(careUnit, method, path, body, dryRun));
    const real = comparable(await send(careUnit, method, path, body, ''));
    expect({ status: looked.status, reason: looked.problem.reason }).toEqual(expected);
    expect(looked).toEqual(real);
    expect(await everything()).toEqual(before);
  }

  async function bookRun(slots: readonly Slot[], careUnit = oslo): Promise<Appointment[]> {
    const booked: Appointment[] = [];
    for (const slot of slots) booked.push(await book(gateway, { careUnit, slot }));
    return booked;
  }

  /** An appointment in the past. */
  async function pastAppointment(): Promise<Appointment> {
    const { id } = await book(gateway);
    await gateway.ehr('sandbox-no').moveBack(id, 1001);
    return careUnitOf(gateway, oslo).get(id);
  }

  return { send, everything, look, expectSameProblem, bookRun, pastAppointment };
}
