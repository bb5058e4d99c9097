import { vi } from 'vitest';
import { ehrRound } from '../../server/src/background/ehr-round.ts';
import type { Gateway, GatewayResponse, Problem, RequestOptions } from '../gateway/gateway.ts';
import { type Appointment, book, riverside, sodermalm } from './bookings.ts';

/** The pending confirmation of an appointment. */
export interface Confirmation {
  readonly id: string;
  readonly kind: 'booking' | 'cancellation';
  readonly channel: 'sms' | 'email';
  readonly delivery: 'queued' | 'delayed' | 'sent' | 'delivered' | 'failed';
  readonly expires_at: string;
  readonly attempts_remaining: number;
  readonly page_url: string | null;
}

export interface Message {
  readonly channel: 'sms' | 'email';
  readonly to: string;
  readonly text: string;
  readonly appointment_id: string;
  readonly sent_at: string;
}

/** A response that may be a success or a problem. */
export type AppointmentResponse = GatewayResponse<Appointment & Problem & { readonly attempts_remaining: number }>;
export type AppointmentsResponse = GatewayResponse<{ readonly appointments: readonly Appointment[] } & Problem>;

export function eventually<Result>(check: () => Promise<Result> | Result): Promise<Result> {
  return vi.waitFor(check, { timeout: 120_000, interval: 10 });
}

export function confirmationOf({ confirmation }: Appointment): Confirmation {
  if (!confirmation) throw new Error('The appointment awaits no code');
  return confirmation as Confirmation;
}

/** Delivered messages, newest first. */
export async function messages(gateway: Gateway): Promise<readonly Message[]> {
  const response = await gateway.request<{ messages: Message[] }>('GET', '/demo/messages', {
    client: null,
    headers: { accept: 'application/json' },
  });
  return response.body.messages;
}

/** Waits for `count` messages about an appointment. Newest first. */
export function messagesAbout(gateway: Gateway, id: string, count = 1): Promise<readonly Message[]> {
  return eventually(async () => {
    const found = (await messages(gateway)).filter((it) => it.appointment_id === id);
    if (found.length < count) throw new Error(`${found.length} of ${count} messages have arrived`);
    return found;
  });
}

/** Waits for `count` codes for an appointment and returns the newest. */
export async function codeFor(gateway: Gateway, id: string, count = 1): Promise<string> {
  const [newest] = await messagesAbout(gateway, id, count);
  return codeIn(newest);
}

/** The code in a message. Codes have six digits unless a policy says otherwise. */
export function codeIn(message: Message | undefined, length = 6): string {
  const code = new RegExp(`(?<!\\d)\\d{${length}}(?!\\d)`).exec(message?.text ?? '')?.[0];
  if (!code) throw new Error('The message has no code');
  return code;
}

/** Incorrect codes. */
export function incorrectCodes(right: string, count: number): string[] {
  const { length } = right;
  return Array.from({ length: count }, (_, index) =>
    String((Number(right) + index + 1) % 10 ** length).padStart(length, '0'),
  );
}

/** The operations on appointments of one care unit, called by this client. Changes return any response; reads throw unless successful. */
export function careUnitOf(gateway: Gateway, careUnit: string, client: RequestOptions['client'] = 'everything') {
  const at = (path: string) => `${careUnit}/appointments${path}`;
  const change = (id: string, body: object, query = ''): Promise<AppointmentResponse> =>
    gateway.request('PATCH', at(`/${id}${query}`), { body, client });
  const changeMany = (ids: readonly string[], body: object, query = ''): Promise<AppointmentsResponse> =>
    gateway.request('PATCH', at(query), { body: { ids, ...body }, client });
  const get = async (id: string): Promise<Appointment> => {
    const { status, body, text } = await gateway.request<Appointment>('GET', at(`/${id}`), { client });
    if (status !== 200) throw new Error(`Reading the appointment failed: ${text}`);
    return body;
  };
  return {
    create: (body: object, query = ''): Promise<AppointmentResponse> =>
      gateway.request('POST', at(query), { body, client }),
    change,
    changeMany,
    get,
    getAll: (ids: readonly string[]) => Promise.all(ids.map(get)),
    cancel: (id: string, more: object = {}) => change(id, { status: 'cancelled', ...more }),
    confirm: (id: string, code: string) => change(id, { confirmation: { code } }),
    confirmMany: (ids: readonly string[], code: string) => changeMany(ids, { confirmation: { code } }),
    resend: (id: string): Promise<AppointmentResponse> =>
      gateway.request('POST', at(`/${id}/confirmation`), { client }),
    async list(query: string): Promise<readonly Appointment[]> {
      const { status, body, text } = await gateway.request<{ appointments: Appointment[] }>('GET', at(`?${query}`), {
        client,
      });
      if (status !== 200) throw new Error(`Listing failed: ${text}`);
      return body.appointments;
    },
  };
}

/** Books an appointment that requires a code, and confirms it. */
export async function bookByCode(gateway: Gateway, booking: Parameters<typeof book>[1] = {}): Promise<Appointment> {
  const { careUnit = sodermalm } = booking;
  const { id } = await book(gateway, { ...booking, careUnit });
  const { confirm } = careUnitOf(gateway, careUnit);
  const { status, body, text } = await confirm(id, await codeFor(gateway, id));
  if (status !== 200) throw new Error(`Confirming failed: ${text}`);
  return body;
}

/** Books an appointment and requests its cancellation, which requires a code. */
export async function startCancellation(gateway: Gateway, careUnit = riverside, more: object = {}) {
  const original = await book(gateway, { careUnit, comment: 'before' });
  const { status, body: view, text } = await careUnitOf(gateway, careUnit).cancel(original.id, more);
  if (status !== 200 || view.status !== 'awaiting_confirmation')
    throw new Error(`The cancellation awaits no code: ${text}`);
  return { original, view };
}

/** Queries the gateway's database. */
export async function rowsOf<Row>(gateway: Gateway, sql: string, values: readonly unknown[] = []): Promise<Row[]> {
  const client = await gateway.database.pool.connect();
  try {
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    client.release();
  }
}

/** Expires the code of an appointment now. Expires its hold in the EHR first, because the gateway may release it. */
export async function expireCode(gateway: Gateway, appointment: Appointment): Promise<void> {
  const ehr = gateway.ehr(appointment.emr);
  for (const { id, state } of await ehr.appointments()) {
    if (id === appointment.id && state === 'held') await ehr.hold(id, new Date());
  }
  await rowsOf(gateway, 'UPDATE confirmations SET expires_at = clock_timestamp() WHERE id = $1', [
    confirmationOf(appointment).id,
  ]);
}

/**
 * Simulates a crash of the process that runs the writes to an EHR: ends their leases, so that late results of the EHR are
 * ignored.
 */
export async function abandonWrites(gateway: Gateway, emr: string): Promise<void> {
  const abandoned = await rowsOf(
    gateway,
    `UPDATE operations SET lease_token = gen_random_uuid(), lease_expires_at = now(), next_attempt_at = now()
     WHERE emr = $1 AND lease_expires_at > now() AND next_attempt_at IS NOT NULL RETURNING id`,
    [emr],
  );
  if (abandoned.length === 0) throw new Error('No write is in progress');
}

/** Backdates the code of a confirmation. */
export async function backdateCode(gateway: Gateway, confirmationId: string, seconds: number): Promise<void> {
  await rowsOf(
    gateway,
    'UPDATE confirmations SET last_code_sent_at = last_code_sent_at - make_interval(secs => $2) WHERE id = $1',
    [confirmationId, seconds],
  );
}

/** Unfinished operations, of all EHRs or one. */
export function unfinishedOperations(gateway: Gateway, emr?: string): Promise<{ readonly id: string }[]> {
  const sql = `SELECT id FROM operations WHERE state <> 'done' AND sealed_plan IS NOT NULL AND ($1::text IS NULL OR emr = $1)`;
  return rowsOf(gateway, sql, [emr ?? null]);
}

/** Runs the background jobs once, for all EHRs. */
export async function runBackgroundJobs(gateway: Gateway): Promise<void> {
  const { services, log, ehrs } = gateway.deps;
  await Promise.all([...ehrs.values()].map((ehr) => ehrRound(services, ehr, log)));
}

/** Backdates unfinished operations, as if reconciliation had found nothing in the EHR for that long. */
export async function backdateWrites(gateway: Gateway, seconds = 180): Promise<void> {
  await rowsOf(
    gateway,
    `UPDATE operations SET last_sent_at = last_sent_at - make_interval(secs => $1), next_attempt_at = now()
     WHERE next_attempt_at IS NOT NULL AND (lease_expires_at IS NULL OR lease_expires_at <= now())`,
    [seconds],
  );
}
