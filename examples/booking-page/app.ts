import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import {
  type CareUnitClient,
  type CrosswardClient,
  CrosswardError,
  ProblemError,
  type UnansweredCareUnit,
} from '../../client/src/index.ts';
import type { Html } from '../../server/src/html/html.ts';
import type { Language } from './all-texts.ts';
import {
  appointmentPage,
  bookingPage,
  type Clinic,
  cancelPage,
  errorPage,
  nearbyPage,
  startPage,
  timesPage,
} from './pages.ts';

export interface BookingPage {
  readonly careUnit: CareUnitClient;
  readonly clinic: string;
  /** IANA time zone of the care unit. */
  readonly timeZone: string;
  /** The language of the care unit. */
  readonly language: Language;
  /** Where the first free times are looked for. */
  readonly nearby: Nearby;
  /** Who is signed in, such as `emr_id:p-3`. Never taken from the request itself: that would show one patient another's. */
  patientOf(request: FastifyRequest): string;
}

export interface Nearby {
  readonly timeSlots: CrosswardClient['timeSlots'];
  readonly clinics: readonly Clinic[];
}

/** What a form or a query has. */
type Fields = Readonly<Record<string, string | undefined>>;

const style = readFileSync(new URL('style.css', import.meta.url));
const day = 24 * 60 * 60 * 1000;

const headers = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/** The backend of the page. It holds the credentials, and logs no request: paths have ids of appointments. */
export function createBookingPage({
  careUnit,
  clinic,
  timeZone,
  language,
  nearby,
  patientOf,
}: BookingPage): FastifyInstance {
  const app = Fastify({ logger: false });
  const site = { clinic, timeZone, language };

  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(headers);
    // Browsers say where a form comes from. A form of another site must not book.
    const origin = request.headers['sec-fetch-site'];
    if (request.method === 'POST' && origin !== undefined && origin !== 'same-origin') {
      return show(reply.code(403), errorPage(site, undefined));
    }
  });
  app.setNotFoundHandler((_request, reply) => show(reply.code(404), errorPage(site, 'appointment_not_found')));
  app.setErrorHandler((error, _request, reply) => show(reply.code(statusOf(error)), errorPage(site, reasonOf(error))));

  app.get('/style.css', (_request, reply) => reply.type('text/css').send(style));

  app.get('/', async (request, reply) => {
    const patient_id = patientOf(request);
    const [services, appointments] = await Promise.all([
      careUnit.healthcareServices.list().all(),
      careUnit.appointments.list({ patient_id, status: ['booked', 'awaiting_confirmation'] }).all(),
    ]);
    const upcoming = appointments.filter(({ start, end }) => Date.parse(end ?? start) > Date.now());
    return show(reply, startPage(site, services, upcoming));
  });

  app.get<{ Querystring: Fields }>('/times', async ({ query }, reply) => {
    const { service = '', moving, problem, cursor } = query;
    const wanted = Date.parse(query.from ?? '') || 0;
    // A cursor continues the list of before, from the same time.
    const from = new Date(cursor === undefined ? Math.max(wanted, Date.now()) : wanted);
    const range = { start: from.toISOString(), end: new Date(from.getTime() + 7 * day).toISOString() };
    const [{ items, nextCursor }, resources] = await Promise.all([
      careUnit.timeSlots
        .list({ ...range, healthcare_service_id: [service], limit: 200, ...(cursor !== undefined && { cursor }) })
        .firstPage(),
      careUnit.resources.list().all(),
    ]);
    const later = nextCursor === null ? { from: range.end } : { from: range.start, cursor: nextCursor };
    return show(reply, timesPage(site, { service, moving, problem }, { slots: items, resources, later }));
  });

  app.get<{ Querystring: Fields }>('/nearby', async ({ query: { service = '', from } }, reply) => {
    const start = Math.max(Date.parse(from ?? '') || 0, Date.now());
    const unanswered: UnansweredCareUnit[] = [];
    const search = {
      care_units: nearby.clinics.map(({ place }) => ({ ...place, healthcare_service_ids: [service] })),
      start: new Date(start).toISOString(),
      end: new Date(start + 7 * day).toISOString(),
      per_care_unit: 3,
      // A clinic that is slow is named, and the patient sees the times of the others.
      wait_ms: 2_000,
    };
    const { items } = await nearby.timeSlots
      .search(search, { onUnanswered: (careUnits) => unanswered.push(...careUnits) })
      .firstPage();
    return show(reply, nearbyPage(site, service, { slots: items, unanswered, clinics: nearby.clinics }));
  });

  // The id of the form is part of the address, so that it survives a reload.
  app.get<{ Querystring: Fields }>('/book', async ({ query }, reply) =>
    show(reply, bookingPage(site, query, await namesOf(query.service, query.resource))),
  );

  app.post<{ Body: Fields }>('/book', async (request, reply) => {
    const { service = '', resource = '', start = '', end = '', moving } = request.body;
    const options = { idempotencyKey: keyOf(request.body) };
    try {
      if (moving) {
        await requireOwn(request, moving);
        const moved = await careUnit.appointments.update(moving, { start, end, resource_id: resource }, options);
        return reply.redirect(`/appointments/${moved.id}?done=moved`, 303);
      }
      const appointment = {
        patient_id: patientOf(request),
        resource_id: resource,
        healthcare_service_id: service,
        start_time: start,
        end_time: end,
      };
      const { id } = await careUnit.appointments.create(appointment, options);
      return reply.redirect(`/appointments/${id}?done=booked`, 303);
    } catch (error) {
      const problem = reasonOf(error);
      if (problem === 'time_slot_unavailable') {
        return reply.redirect(`/times?${new URLSearchParams({ service, ...(moving && { moving }), problem })}`, 303);
      }
      // The same form again: if the first request did book, sending it again returns that booking.
      const names = await namesOf(service, resource);
      return show(reply.code(statusOf(error)), bookingPage(site, { ...request.body, problem }, names));
    }
  });

  type One = { Params: { id: string }; Querystring: Fields; Body: Fields };

  app.get<One>('/appointments/:id', async (request, reply) => {
    const appointment = await requireOwn(request, request.params.id);
    const names = await namesOf(appointment.healthcare_service_id, appointment.resource_id);
    return show(reply, appointmentPage(site, { appointment, names }, request.query, randomUUID()));
  });

  app.get<One>('/appointments/:id/cancel', async (request, reply) => {
    const appointment = await requireOwn(request, request.params.id);
    const names = await namesOf(appointment.healthcare_service_id, appointment.resource_id);
    return show(reply, cancelPage(site, { appointment, names }, randomUUID()));
  });

  app.post<One>('/appointments/:id/code', (request, reply) =>
    change(request, reply, 'confirmed', (id, options) =>
      careUnit.appointments.confirm(id, (request.body.code ?? '').replaceAll(/\s/g, ''), options),
    ),
  );
  app.post<One>('/appointments/:id/resend', (request, reply) =>
    // The client would wait until the next code may be sent. The patient should not.
    change(request, reply, 'sent', (id, options) =>
      careUnit.appointments.resendCode(id, { ...options, timeoutMs: 5_000 }),
    ),
  );
  app.post<One>('/appointments/:id/cancel', (request, reply) =>
    change(request, reply, 'cancelled', (id, options) => careUnit.appointments.cancel(id, {}, options)),
  );

  /** What the appointment is for, and with whom. Without it, the page still works. */
  async function namesOf(service?: string | null, resource?: string | null): Promise<string> {
    const [services, resources] = await Promise.all([
      careUnit.healthcareServices.list().all(),
      careUnit.resources.list().all(),
    ]).catch(() => [[], []]);
    const named = [services.find(({ id }) => id === service), resources.find(({ id }) => id === resource)];
    return named.flatMap((it) => (it ? [it.name] : [])).join(', ');
  }

  /** Makes one change, and shows the appointment. Where a code is needed to cancel, that is the one that awaits it. */
  async function change(
    request: FastifyRequest<One>,
    reply: FastifyReply,
    done: string,
    write: (id: string, options: { idempotencyKey: string }) => Promise<{ id: string }>,
  ): Promise<FastifyReply> {
    const { id } = await requireOwn(request, request.params.id);
    try {
      const changed = await write(id, { idempotencyKey: keyOf(request.body) });
      return reply.redirect(`/appointments/${changed.id}?done=${done}`, 303);
    } catch (error) {
      return reply.redirect(`/appointments/${id}?problem=${reasonOf(error)}`, 303);
    }
  }

  /** The appointment, if it belongs to the patient. Otherwise anybody could change an appointment whose id they know. */
  async function requireOwn(request: FastifyRequest, id: string) {
    const appointment = await careUnit.appointments.get(id);
    if (appointment.patient_id !== patientOf(request)) throw new NotFound();
    return appointment;
  }

  return app;
}

class NotFound extends Error {
  readonly statusCode = 404;
}

function statusOf(error: unknown): number {
  if (error instanceof ProblemError) return error.problem.status;
  if (error instanceof CrosswardError) return 502;
  // Errors of Fastify have a status, too.
  return error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
}

/**
 * The same for each time that a form is sent with the same content, so that a double click, a reload or a second try never
 * books twice. Another content, such as another code, has another key.
 */
function keyOf(form: Fields): string {
  return createHash('sha256')
    .update(JSON.stringify(Object.entries(form).sort()))
    .digest('hex');
}

/** Only the reason: an error can contain identifiers. */
function reasonOf(error: unknown): string {
  if (error instanceof ProblemError) return error.problem.reason;
  if (error instanceof NotFound) return 'appointment_not_found';
  return error instanceof CrosswardError ? 'no_response' : 'unknown';
}

function show(reply: FastifyReply, page: Html): FastifyReply {
  return reply.type('text/html; charset=utf-8').send(page.text);
}
