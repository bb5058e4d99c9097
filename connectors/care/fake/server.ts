import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  configs,
  type FakeBooking,
  type FakePatient,
  type FakeResource,
  type FakeSlot,
  facilities,
  newPatients,
  resources,
} from './data.ts';

/** India has had one time since 1945. */
const offset = '+05:30';
const minute = 60_000;
const slotMinutes = 15;
const hours = { from: 9, to: 12 };
const freed = ['cancelled', 'entered_in_error', 'rescheduled'];

export const password = 'secret';

interface FakeOptions {
  /** Sign-ins of a user in ten minutes. */
  readonly signIns?: number;
  readonly tokenSeconds?: number;
  readonly mostPerPatient?: number;
}

type Answer = readonly [status: number, body: unknown];
interface Call {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Record<string, unknown>;
  readonly user: string;
}

/** A server that behaves as CARE does, with its faults. */
export type FakeCare = Awaited<ReturnType<typeof startFake>>;

export async function startFake({ signIns = 5, tokenSeconds = 600, mostPerPatient = 10 }: FakeOptions = {}) {
  const patients = new Map(newPatients().map((it) => [it.id, it]));
  const slots: FakeSlot[] = [];
  const bookings = new Map<string, FakeBooking>();
  const locks = new Set<string>();
  const tokens = new Map<string, string>();
  const refreshTokens = new Map<string, string>();
  const seen: { method: string; path: string }[] = [];
  let signedIn = 0;
  let last = 0;
  const controls = {
    /** Records as they are sent. */
    spoil: (_type: string, record: Record<string, unknown>): unknown => record,
    /** Runs between the two requests of a batch, and between reading and writing a slot. */
    meanwhile: async (): Promise<void> => undefined,
    /** Runs when CARE has counted the places of a slot, and has not booked yet. */
    counted: async (): Promise<void> => undefined,
    /** Runs before the server looks at a call. */
    arrives: async (_call: Pick<Call, 'method' | 'path'>): Promise<void> => undefined,
    /** `cut`: does it, and does not answer. */
    misbehave: (_call: Pick<Call, 'method' | 'path'>): 'cut' | Answer | undefined => undefined,
  };

  /** Time stamps differ, as in a database with microseconds. */
  function stamp(): number {
    last = Math.max(last + 1, Date.now());
    return last;
  }
  const iso = (time: number) => new Date(time + 5.5 * 60 * minute).toISOString().replace('Z', offset);
  const dayOf = (time: number) => iso(time).slice(0, 10);
  const pause = () => new Promise((resolve) => setTimeout(resolve, 2));

  function slotBody(slot: FakeSlot) {
    return {
      id: slot.id,
      availability: { name: 'Consultation', tokens_per_slot: slot.resource.places },
      start_datetime: iso(slot.start),
      end_datetime: iso(slot.end),
      allocated: slot.allocated,
    };
  }

  function resourceBody({ id, type, name }: FakeResource) {
    const [first_name, last_name] = name.split(' ');
    return type === 'location' ? { id, name } : { id, username: `user-${first_name}`, first_name, last_name };
  }

  function bookingBody({ id, slot, patient, status, note, created, modified }: FakeBooking) {
    return controls.spoil('booking', {
      id,
      token_slot: slotBody(slot),
      patient: { id: patient.id, name: patient.name },
      status,
      note,
      resource_type: slot.resource.type,
      resource: resourceBody(slot.resource),
      created_date: iso(created),
      modified_date: iso(modified),
    });
  }

  const errors = (msg: string): Answer => [400, { errors: [{ type: 'validation_error', msg }] }];
  const absent: Answer = [404, { detail: 'Not found.', code: 'not_found' }];
  const forbidden: Answer = [403, { detail: 'You do not have permission.', code: 'permission_denied' }];

  function page(all: readonly unknown[], query: URLSearchParams): Answer {
    const limit = Math.min(200, Number(query.get('limit') ?? 14));
    const from = Number(query.get('offset') ?? 0);
    return [200, { count: all.length, results: all.slice(from, from + limit) }];
  }

  /** The first look at a day makes its slots. Two at once make each of them twice. */
  async function slotsForDay(resource: FakeResource, day: string): Promise<FakeSlot[]> {
    const there = () => slots.filter((it) => it.resource === resource && dayOf(it.start) === day);
    if (there().length === 0 && day > dayOf(Date.now())) {
      await pause();
      for (let at = hours.from * 60; at < hours.to * 60; at += slotMinutes) {
        const start = Date.parse(`${day}T00:00:00${offset}`) + at * minute;
        slots.push({ id: randomUUID(), resource, start, end: start + slotMinutes * minute, allocated: 0 });
      }
    }
    return there().toSorted((a, b) => a.id.localeCompare(b.id));
  }

  /** The lock ends before the transaction does, and the count is that of an earlier read. */
  async function book(slot: FakeSlot, allocated: number, patient: FakePatient, note: string): Promise<Answer> {
    const key = slot.resource.id;
    if (locks.has(key)) return [423, { detail: 'The resource is locked', code: 'object_locked' }];
    locks.add(key);
    if (slot.end < Date.now()) return unlocked(key, errors('Slot is already past'));
    if (allocated >= slot.resource.places) return unlocked(key, errors('Slot is already full'));
    const own = [...bookings.values()].filter((it) => it.patient === patient && !freed.includes(it.status));
    if (own.some((it) => it.slot === slot)) return unlocked(key, errors('Patient already has a booking for this slot'));
    const future = own.filter((it) => it.slot.start > Date.now()).length;
    if (future >= mostPerPatient) {
      return unlocked(key, errors(`Patient already has maximum number of appointments (${mostPerPatient})`));
    }
    locks.delete(key);
    await controls.counted();
    await pause();
    const created = stamp();
    slot.allocated = allocated + 1;
    const booking = { id: randomUUID(), slot, patient, status: 'booked', note, created, modified: created };
    bookings.set(booking.id, booking);
    return [200, bookingBody(booking)];
  }

  function unlocked(key: string, answer: Answer): Answer {
    locks.delete(key);
    return answer;
  }

  function free(booking: FakeBooking, reason: string, note: unknown): void {
    if (!freed.includes(booking.status)) booking.slot.allocated -= 1;
    booking.status = reason;
    if (note) booking.note = String(note);
    booking.modified = stamp();
  }

  async function ofBooking(call: Call, booking: FakeBooking, action: string): Promise<Answer> {
    const { method, body } = call;
    if (method === 'GET') return [200, bookingBody(booking)];
    if (method === 'PUT') {
      if (freed.includes(String(body.status))) return errors('Use cancel');
      // The row as it was read: one that was cancelled comes back, and its place is not counted.
      booking.status = String(body.status);
      booking.note = String(body.note);
      booking.modified = stamp();
      return [200, bookingBody(booking)];
    }
    if (action === 'cancel') {
      if (booking.status === 'in_consultation') return errors('You cannot cancel an appointment In-Consultation');
      free(booking, String(body.reason), body.note);
      return [200, bookingBody(booking)];
    }
    const slot = slots.find(({ id }) => id === body.new_slot);
    if (!slot) return absent;
    if (slot === booking.slot) return errors('Cannot reschedule to the same slot');
    const made = await book(slot, slot.allocated, booking.patient, String(body.new_booking_note));
    if (made[0] === 200) free(booking, 'rescheduled', body.previous_booking_note);
    return made;
  }

  function listed(query: URLSearchParams, all: readonly FakeBooking[]): Answer {
    const split = (name: string) => query.get(name)?.split(',');
    const found = all.filter(({ slot, status, patient }) => {
      const day = dayOf(slot.start);
      return (
        (split('resource_ids')?.includes(slot.resource.id) ?? true) &&
        slot.resource.type === (query.get('resource_type') ?? slot.resource.type) &&
        (split('status')?.includes(status) ?? true) &&
        day >= (query.get('date_after') ?? '') &&
        day <= (query.get('date_before') ?? '9999') &&
        slot.id === (query.get('slot') ?? slot.id) &&
        patient.id === (query.get('patient') ?? patient.id)
      );
    });
    const byStart = query.get('ordering') === 'token_slot__start_datetime';
    const order = byStart
      ? (a: FakeBooking, b: FakeBooking) => a.slot.start - b.slot.start
      : (a: FakeBooking, b: FakeBooking) => b.modified - a.modified;
    return page(found.toSorted(order).map(bookingBody), query);
  }

  async function ofFacility(
    call: Call,
    facility: string,
    [kind = '', id = '', action = '']: string[],
  ): Promise<Answer> {
    const { method, body, query, user } = call;
    const own = Object.values(resources).filter((it) => it.facility === facility);
    if (kind === 'schedulable_users') {
      return page(
        own.filter(({ type }) => type === 'practitioner').map((it) => controls.spoil('user', resourceBody(it))),
        query,
      );
    }
    const resource = own.find((it) => it.id === (kind === 'location' ? id : body.resource_id));
    if (kind === 'location') return resource ? [200, resourceBody(resource)] : absent;
    if (id === 'get_slots_for_day') {
      return resource
        ? [
            200,
            {
              results: (await slotsForDay(resource, String(body.day))).map((it) =>
                controls.spoil('slot', slotBody(it)),
              ),
            },
          ]
        : errors('No');
    }
    if (id === 'availability_stats') {
      if (!resource) return errors('Resource is not schedulable');
      const days: Record<string, unknown> = {};
      const [from, to] = [Date.parse(String(body.from_date)), Date.parse(String(body.to_date))];
      if (to - from > 32 * 24 * 60 * minute) return errors('At most 32 days');
      for (let at = from; at <= to; at += 24 * 60 * minute) {
        const day = new Date(at).toISOString().slice(0, 10);
        days[day] = { total_slots: day > dayOf(Date.now()) ? 12 : 0, booked_slots: 0 };
      }
      return [200, days];
    }
    if (kind === 'slots') {
      const slot = slots.find((it) => it.id === id);
      if (!slot) return absent;
      if (user !== 'gateway') return forbidden;
      const { allocated } = slot;
      await controls.meanwhile();
      await pause();
      const patient = patients.get(String(body.patient));
      return patient ? book(slot, allocated, patient, String(body.note)) : errors('Patient not found');
    }
    if (kind !== 'appointments') return absent;
    const here = [...bookings.values()].filter(({ slot }) => slot.resource.facility === facility);
    if (id === '') {
      if (!query.get('resource_type')) return errors('Resource Type is required');
      return query.get('resource_ids') ? listed(query, here) : forbidden;
    }
    const booking = here.find((it) => it.id === id);
    if (!booking) return absent;
    return method === 'GET' || user === 'gateway' ? ofBooking(call, booking, action) : forbidden;
  }

  function patientBody(patient: FakePatient) {
    return controls.spoil('patient', { ...patient });
  }

  async function ofPatients({ method, body, query }: Call, [id = '', action = '']: string[]): Promise<Answer> {
    if (id === 'search') {
      const config = Object.values(configs).find((it) => it.id === body.config);
      if (!config) return errors('Config not found');
      const value = String(body.value).toLowerCase();
      const found = [...patients.values()].filter(({ instance_identifiers }) =>
        instance_identifiers.some((it) => it.config.id === config.id && it.value.toLowerCase() === value),
      );
      const partial = 'retrieve_partial' in config.config;
      const results = found.map((it) => (partial ? { id: randomUUID(), name: it.name } : patientBody(it)));
      return [200, { partial, results }];
    }
    if (id === '' && method === 'POST') {
      const given = body as unknown as FakePatient & { identifiers: { config: string; value: string }[] };
      if (!given.phone_number || !given.pincode || !body.geo_organization) return errors('Field required');
      // A check without a constraint.
      const isKnown = [...patients.values()].some(({ instance_identifiers: all }) =>
        all.some((it) => given.identifiers.some(({ config, value }) => it.config.id === config && it.value === value)),
      );
      if (isKnown) return errors('Identifier config is not unique');
      await pause();
      const { name, gender, phone_number, date_of_birth, address, pincode } = given;
      const patient: FakePatient = {
        ...{ id: randomUUID(), name, gender, phone_number, date_of_birth, address, pincode },
        year_of_birth: Number(date_of_birth?.slice(0, 4)),
        deceased_datetime: null,
        instance_identifiers: given.identifiers.map(({ value }) => ({ config: configs.number, value })),
      };
      patients.set(patient.id, patient);
      return [200, patientBody(patient)];
    }
    const patient = patients.get(id);
    if (!patient) return absent;
    if (action !== 'get_appointments') return [200, patientBody(patient)];
    const own = [...bookings.values()].filter((it) => it.patient === patient);
    const here = own.filter(({ slot }) => slot.resource.facility === (query.get('facility') ?? slot.resource.facility));
    return listed(
      query,
      here.toSorted((a, b) => b.slot.start - a.slot.start),
    );
  }

  function newTokens(user: string): Answer {
    const now = Math.floor(Date.now() / 1000);
    const claims = Buffer.from(JSON.stringify({ iat: now, exp: now + tokenSeconds })).toString('base64url');
    const [access, refresh] = [`e30.${claims}.${randomUUID()}`, randomUUID()];
    tokens.set(access, user);
    refreshTokens.set(refresh, user);
    return [200, { access, refresh }];
  }

  async function route(call: Call): Promise<Answer> {
    const [kind = '', ...rest] = call.path.split('/').filter(Boolean).slice(2);
    if (kind === 'users') return [200, { username: call.user }];
    if (kind === 'patient_identifier_config') return page(Object.values(configs), call.query);
    if (kind === 'patient') return ofPatients(call, rest);
    if (kind === 'facility' && Object.values(facilities).includes(rest[0] ?? '')) {
      return ofFacility(call, rest[0] ?? '', rest.slice(1));
    }
    if (kind !== 'batch_requests') return absent;
    const results: { reference_id: unknown; status_code: number; data: unknown }[] = [];
    for (const [index, request] of (call.body.requests as Record<string, unknown>[]).entries()) {
      if (index > 0) await controls.meanwhile();
      const url = new URL(String(request.url), 'http://fake');
      const [status, data] = await route({
        ...{ method: String(request.method), path: url.pathname, query: url.searchParams, user: call.user },
        body: request.body as Record<string, unknown>,
      });
      results.push({ reference_id: request.reference_id, status_code: status, data });
      if (status >= 400) return [400, { results }];
    }
    return [200, { results }];
  }

  async function answer(request: IncomingMessage): Promise<Answer> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {};
    const url = new URL(request.url ?? '/', 'http://fake');
    const { pathname: path, searchParams: query } = url;
    if (path === '/api/v1/auth/login/') {
      if (++signedIn > signIns) return [429, { detail: 'captchaRequired' }];
      return body.password === password ? newTokens(body.username) : [401, { detail: 'No active account' }];
    }
    if (path === '/api/v1/auth/token/refresh/') {
      const user = refreshTokens.get(body.refresh);
      refreshTokens.delete(body.refresh);
      return user === undefined ? [401, { code: 'token_not_valid' }] : newTokens(user);
    }
    const user = tokens.get(request.headers.authorization?.replace('Bearer ', '') ?? '');
    if (user === undefined) return [403, { detail: 'Token is invalid', code: 'token_not_valid' }];
    return route({ method: request.method ?? 'GET', path, query, body, user });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const call = { method: request.method ?? 'GET', path: request.url ?? '' };
    seen.push(call);
    await controls.arrives(call);
    const wrong = controls.misbehave(call);
    const [status, body] = typeof wrong === 'object' ? wrong : await answer(request);
    if (wrong === 'cut') return void request.socket.destroy();
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.writeHead(500).end());
  });
  // An idle connection is closed by the caller alone, so that no request meets one that is being closed.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(controls, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    patients,
    slots,
    bookings,
    seen,
    /** As the desk does, at once. */
    free,
    touch: (booking: FakeBooking, change: Partial<Pick<FakeBooking, 'status' | 'note' | 'created'>>) =>
      Object.assign(booking, change, { modified: stamp() }),
    add(slot: FakeSlot, patientId: string): FakeBooking {
      const patient = patients.get(patientId);
      if (!patient) throw new Error('No such patient');
      const created = stamp();
      const booking = { id: randomUUID(), slot, patient, status: 'booked', note: '', created, modified: created };
      slot.allocated += 1;
      bookings.set(booking.id, booking);
      return booking;
    },
    /** @param refreshes whether refresh tokens last */
    endTokens(refreshes = true) {
      tokens.clear();
      if (!refreshes) refreshTokens.clear();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}
