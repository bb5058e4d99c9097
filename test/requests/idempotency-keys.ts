import type { ConnectorModule } from '@crossward/connector-kit';
import { expect } from 'vitest';
import { wrapConnector } from '../ehrs/other-ehrs.ts';
import type { Gateway, GatewayResponse, Problem, RequestOptions } from '../gateway/gateway.ts';
import { type Appointment, creationBody, oslo, type Slot } from './bookings.ts';

export type AppointmentResponse = GatewayResponse<Appointment & Problem & { readonly appointments: Appointment[] }>;

export interface Sent extends RequestOptions {
  readonly method: 'POST' | 'PATCH';
  readonly path: string;
}

/** Whether an EHR fails before or after it makes the write. */
export interface Failure {
  readonly when: 'before' | 'after';
  readonly error: Error;
  /** Delays a failure before the write until this promise resolves. */
  readonly gate?: Promise<void>;
}

/** EHRs that apply `failures` to the next writes, in order. Releases do not fail. */
export function wrapFailing(failures: Failure[]): ConnectorModule {
  return wrapConnector((connector) => ({
    ...connector,
    async changeAppointments(write) {
      const failure = write.changes[0]?.kind === 'release' ? undefined : failures.shift();
      if (failure?.when === 'before') {
        await failure.gate;
        throw failure.error;
      }
      const done = await connector.changeAppointments?.(write);
      if (failure) throw failure.error;
      return done ?? [];
    },
  }));
}

let lastKey = 0;
/** A new idempotency key. */
export const newKey = () => `key ${++lastKey} ~`;

export const creation = (slot: Slot, careUnit = oslo): Sent => ({
  method: 'POST',
  path: `${careUnit}/appointments`,
  body: creationBody(slot),
});
export const change = (id: string, body: object, careUnit = oslo): Sent => ({
  method: 'PATCH',
  path: `${careUnit}/appointments/${id}`,
  body,
});
export const changeMany = (ids: readonly string[], body: object, careUnit = oslo): Sent => ({
  method: 'PATCH',
  path: `${careUnit}/appointments`,
  body: { ids, ...body },
});

/** Expects the stored response with `Idempotency-Replayed`. The first one came from the operation itself. */
export function expectReplayed(again: AppointmentResponse, first: AppointmentResponse): void {
  expectStored(again, first);
  expect(first.headers['idempotency-replayed']).toBeUndefined();
}

/** Expects the stored response with `Idempotency-Replayed`. A background job may have ended the operation before the first. */
export function expectStored(again: AppointmentResponse, first: AppointmentResponse): void {
  expect(again.status).toBe(first.status);
  expect(again.text).toBe(first.text);
  expect(again.headers['content-type']).toBe(first.headers['content-type']);
  expect(again.headers.location).toBe(first.headers.location);
  expect(again.headers['idempotency-replayed']).toBe('true');
}

/** Sends requests with idempotency keys and checks their effects. */
export function keysOf(gateway: Gateway) {
  function send({ method, path, ...options }: Sent, key: string | undefined): Promise<AppointmentResponse> {
    const headers = { 'idempotency-key': key, ...options.headers };
    return gateway.request(method, path, { ...options, headers });
  }

  /** The appointments in the EHR that overlap the slot, except cancelled ones. */
  async function at({ start, end, resource_id }: Slot, emr = 'sandbox-no') {
    const found = await gateway.ehr(emr).appointments();
    return found
      .filter((it) => `emr_id:${it.resourceId}` === resource_id && it.state !== 'cancelled')
      .filter((it) => it.start < new Date(end) && it.end > new Date(start))
      .map(({ id, state }) => ({ id, state }));
  }

  async function stored(id: string, careUnit = oslo): Promise<Appointment> {
    return (await gateway.request<Appointment>('GET', `${careUnit}/appointments/${id}`)).body;
  }

  return { send, at, stored };
}
