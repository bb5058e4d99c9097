import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import { admitted, type Claims } from './access.ts';
import { Appointments, appointmentResource, type Stored, startOf } from './appointments.ts';
import type { ClockChangeNight } from './clock-change-nights.ts';
import { makeSlots, patientResource, patients, type Schedule, type Slot, schedules } from './data-set.ts';
import { identifier } from './names.ts';
import { outcome, outcomeInXml, Refusal } from './outcome.ts';
import { searchSlots } from './slot-search.ts';
import { ukDay } from './uk-text.ts';

export interface FakeOptions {
  /** Days with slots, from tomorrow on. Default: 30. */
  readonly days?: number;
  /** Beside those of the data set. */
  readonly moreSchedules?: readonly Schedule[];
  /**
   * What a booking waits for between the check of its slots and their booking. The NHS's demonstrator has no lock there.
   * Absent: bookings wait for each other, as every supplier must see to.
   */
  readonly withoutLock?: () => Promise<void>;
  readonly now?: () => number;
  /** Mutual TLS. Absent: HTTP. */
  readonly tls?: MutualTls;
}

export interface MutualTls {
  readonly cert: string;
  readonly key: string;
  /** Who issues the certificates of clients. */
  readonly ca: string;
  /** How a client without such a certificate is refused: by the end of the connection, or with 495 or 496 as by the demonstrator. */
  readonly refusal: 'close' | 'status';
}

export interface SeenRequest {
  readonly method: string;
  /** Below the service root, with the query. */
  readonly path: string;
  /** The path as it was sent, through a proxy or not. */
  readonly fullPath: string;
  readonly headers: IncomingMessage['headers'];
  readonly interaction: string;
  readonly claims: Claims;
  readonly body: string;
}

/**
 * What goes wrong with a request:
 *
 * - `cut_before`, `cut_after`: the connection is cut, before or after the request is carried out
 * - a promise: the request is carried out at once, and answered when the promise is resolved
 * - an answer that is sent instead
 */
export type Fault =
  | 'cut_before'
  | 'cut_after'
  | Promise<unknown>
  | { readonly status: number; readonly body: string; readonly type?: string };

/** A practice's system. */
export interface FakePractice {
  /** Its service root URL. */
  readonly url: string;
  readonly appointments: Appointments;
  readonly slots: readonly Slot[];
  readonly nights: readonly ClockChangeNight[];
  readonly seen: readonly SeenRequest[];
  misbehave: (request: SeenRequest) => Fault | undefined;
  /** What becomes of each part of an answer, such as a record that another program has broken. Absent: it stays. */
  spoil: ((part: unknown) => unknown) | undefined;
  close(): Promise<void>;
}

const root = '/A20047/STU3/1/gpconnect/fhir';
const mediaType = 'application/fhir+json;charset=UTF-8';

/** GP Connect 1.2.7 as the NHS's demonstrator speaks it. */
export async function startFake({
  days = 30,
  moreSchedules = [],
  withoutLock,
  now = Date.now,
  tls,
}: FakeOptions = {}): Promise<FakePractice> {
  const { slots, nights } = makeSlots(days, [...schedules, ...moreSchedules]);
  const appointments = new Appointments(slots, now, withoutLock);
  const seen: SeenRequest[] = [];

  async function answer({ method, path, headers, interaction, body }: SeenRequest) {
    const url = new URL(path, 'http://practice');
    const [type = '', id = '', list] = url.pathname.slice(1).split('/');
    if (type === 'metadata')
      return { status: 200, resource: { resourceType: 'CapabilityStatement', version: '1.2.7' } };
    if (type === 'Slot') return { status: 200, resource: bundle(searchSlots(slots, url.searchParams)) };
    if (type === 'Patient' && list !== undefined)
      return { status: 200, resource: bundle(listOf(id, url.searchParams)) };
    if (type === 'Patient' && id === '') return { status: 200, resource: bundle(findPatients(url.searchParams)) };
    if (type === 'Patient') return { status: 200, resource: readPatient(id) };
    if (method === 'GET') return read(appointments.read(id));
    const sent = parsed(body);
    if (method === 'POST') {
      const made = await appointments.create(sent);
      const location = `${base()}/Appointment/${made.id}/_history/${made.version}`;
      return { status: 201, resource: appointmentResource(made), headers: { location } };
    }
    const kind = interaction === 'cancel:appointment-1' ? 'cancel' : 'amend';
    const changed = appointments.change(id, sent, headers['if-match'], kind);
    // The version in the answer is not the one that is stored.
    return { status: 200, resource: appointmentResource({ ...changed, version: changed.version + 417 }) };
  }

  function read(stored: Stored) {
    return { status: 200, resource: appointmentResource(stored), headers: { etag: `W/"${stored.version}"` } };
  }

  function listOf(patient: string, parameters: URLSearchParams): readonly object[] {
    const dates = parameters.getAll('start');
    const [first, last] = ['ge', 'le'].map((it) => dates.find((date) => date.startsWith(it))?.slice(it.length) ?? '');
    const areDates = [first, last].every((it) => it !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(it));
    if (dates.length !== 2 || !first || !last || !areDates || first < ukDay(now()) || last < first) {
      throw new Refusal(422, 'INVALID_PARAMETER');
    }
    return appointments
      .list(patient, first, last)
      .toSorted((a, b) => startOf(b) - startOf(a))
      .map(appointmentResource);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const send = (status: number, content: string, type = mediaType, headers: Record<string, string> = {}) => {
      response.writeHead(status, { 'content-type': type, ...headers }).end(content);
    };
    try {
      if (tls) assertCertificate(request);
      const fullPath = request.url ?? '';
      const path = fullPath.slice(fullPath.indexOf(root) + root.length + 1);
      const { method = 'GET', headers } = request;
      const [plain = ''] = path.split('?');
      const access = admitted(method, plain, headers, base(), now());
      const facts = { method, path: `/${path}`, fullPath, headers, body, ...access };
      seen.push(facts);
      const fault = practice.misbehave(facts);
      if (fault === 'cut_before') return void request.socket.destroy();
      if (fault !== undefined && fault !== 'cut_after' && !(fault instanceof Promise)) {
        return send(fault.status, fault.body, fault.type);
      }
      const result = await answer(facts);
      if (fault === 'cut_after') return void request.socket.destroy();
      await fault;
      const { spoil } = practice;
      const content = JSON.stringify(result.resource, spoil && ((_, part: unknown) => spoil(part)));
      send(result.status, content, mediaType, 'headers' in result ? result.headers : {});
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.status === 415) send(415, outcomeInXml('BAD_REQUEST'), 'application/fhir+xml;charset=UTF-8');
      else send(error.status, JSON.stringify(outcome(error.code)), mediaType, closing(error));
    }
  }

  const listener = (request: IncomingMessage, response: ServerResponse) => {
    handle(request, response).catch(() => response.destroy());
  };
  const server = tls
    ? createTlsServer({ ...tls, requestCert: true, rejectUnauthorized: tls.refusal === 'close' }, listener)
    : createServer(listener);
  // An idle connection is closed by the caller alone, so that no request meets one that is being closed.
  server.keepAliveTimeout = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const base = () => `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}${root}`;
  const practice: FakePractice = {
    url: base(),
    appointments,
    slots,
    nights,
    seen,
    misbehave: () => undefined,
    spoil: undefined,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return practice;
}

/** 495 and 496 are statuses of nginx, which then ends the connection. */
function closing({ status }: Refusal): Record<string, string> {
  return status === 495 || status === 496 ? { connection: 'close' } : {};
}

/** @throws Refusal 496 without a certificate, 495 with one that is not accepted */
function assertCertificate({ socket }: IncomingMessage): void {
  if (!(socket instanceof TLSSocket) || socket.authorized) return;
  throw new Refusal(socket.getPeerX509Certificate() === undefined ? 496 : 495, 'BAD_REQUEST');
}

function findPatients(parameters: URLSearchParams): readonly object[] {
  if ([...parameters.keys()].some((name) => name !== 'identifier')) throw new Refusal(400, 'BAD_REQUEST');
  const [system, number = ''] = (parameters.get('identifier') ?? '').split('|');
  if (system !== identifier('nhs-number')) throw new Refusal(400, 'INVALID_IDENTIFIER_SYSTEM');
  if (!isNhsNumber(number)) throw new Refusal(400, 'INVALID_NHS_NUMBER');
  return patients.filter((it) => it.nhsNumber === number && !it.isHidden).map(patientResource);
}

function readPatient(wanted: string): object {
  const found = patients.find(({ id, isHidden }) => id === wanted && !isHidden);
  if (found) return patientResource(found);
  // As the demonstrator: ids of its own form are looked up by another path.
  throw /^\d+$/.test(wanted) ? new Refusal(400, 'BAD_REQUEST') : new Refusal(404, 'PATIENT_NOT_FOUND');
}

/** https://www.datadictionary.nhs.uk/attributes/nhs_number.html */
function isNhsNumber(text: string): boolean {
  if (!/^\d{10}$/.test(text)) return false;
  const sum = [...text.slice(0, 9)].reduce((total, digit, index) => total + Number(digit) * (10 - index), 0);
  return (11 - (sum % 11)) % 11 === Number(text[9]);
}

function bundle(resources: readonly object[]): object {
  return { resourceType: 'Bundle', type: 'searchset', entry: resources.map((resource) => ({ resource })) };
}

function parsed(body: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(body);
  } catch {
    throw new Refusal(400, 'BAD_REQUEST');
  }
}

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
