import { randomUUID } from 'node:crypto';
import type { Appointment, HealthcareService, Resource, TimeSlot } from '../../client/src/index.ts';
import { type Html, html } from '../../server/src/html/html.ts';
import { problemText, resultText } from './texts.ts';

interface Site {
  readonly clinic: string;
  readonly timeZone: string;
}

type Fields = Readonly<Record<string, string | undefined>>;

export function startPage(
  site: Site,
  services: readonly HealthcareService[],
  appointments: readonly Appointment[],
): Html {
  const today = new Date().toISOString().slice(0, 10);
  return frame(
    site,
    'Book a time',
    html`
      <section>
        <h2>Find a time</h2>
        <form action="/times" method="get">
          <label for="service">What is it about?</label>
          <select id="service" name="service">
            ${services.map(({ id, name }) => html`<option value="${id}">${name}</option>`)}
          </select>
          <label for="from">From</label>
          <input id="from" name="from" type="date" value="${today}" min="${today}" required>
          <button>Show free times</button>
        </form>
      </section>
      <section>
        <h2>Your appointments</h2>
        ${
          appointments.length === 0
            ? html`<p>You have no appointments.</p>`
            : html`<ul>${appointments.map((appointment) => linkTo(site, appointment))}</ul>`
        }
      </section>`,
  );
}

function linkTo(site: Site, { id, start, status }: Appointment): Html {
  return html`<li><a href="/appointments/${id}">${when(site, start)}</a>${status !== 'booked' && ' (awaits your code)'}</li>`;
}

interface Times {
  readonly slots: readonly TimeSlot[];
  readonly resources: readonly Resource[];
  /** The query of the page after this one. */
  readonly later: Fields;
}

export function timesPage(site: Site, query: Fields, { slots, resources, later }: Times): Html {
  const { service = '', moving } = query;
  const nameOf = (slot: TimeSlot) => resources.find(({ id }) => id === slot.resource_id)?.name;
  const linkOf = (slot: TimeSlot) =>
    search('/book', {
      service,
      moving,
      resource: slot.resource_id,
      start: slot.start,
      end: slot.end,
      form: randomUUID(),
    });
  return frame(
    site,
    moving ? 'Choose another time' : 'Choose a time',
    html`
      ${query.problem !== undefined && alert(problemText(query.problem))}
      ${slots.length === 0 && html`<p>There are no more free times in these seven days.</p>`}
      ${[...Map.groupBy(slots, ({ start }) => dayOf(site, start))].map(
        ([day, slotsOfDay]) => html`
        <h2>${day}</h2>
        <ul class="times">${slotsOfDay.map((slot) => html`<li><a href="${linkOf(slot)}">${timeOf(site, slot.start)}, ${nameOf(slot)}</a></li>`)}</ul>`,
      )}
      <p><a href="${search('/times', { service, moving, ...later })}">Later times</a></p>
      <p><a href="/">Back to the start</a></p>`,
  );
}

/** @param names of the service and the resource */
export function bookingPage(site: Site, fields: Fields, names: string): Html {
  const { start = '', service, resource, end, moving, form } = fields;
  const kept = { service, resource, start, end, moving, form };
  return frame(
    site,
    moving ? 'Move your appointment' : 'Book this time',
    html`
      ${fields.problem !== undefined && alert(problemText(fields.problem))}
      ${details(site, start, names)}
      <form action="/book" method="post">
        ${Object.entries(kept).map(
          ([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`,
        )}
        <button>${moving ? 'Move' : 'Book'}</button>
      </form>
      <p><a href="${search('/times', { service, moving })}">Choose another time</a></p>`,
  );
}

interface Shown {
  readonly appointment: Appointment;
  /** Of the service and the resource. */
  readonly names: string;
}

export function appointmentPage(site: Site, { appointment, names }: Shown, query: Fields, form: string): Html {
  const { id, start, status, confirmation, healthcare_service_id: service } = appointment;
  const isCancelled = status === 'cancelled';
  // A code confirms a booking or a cancellation.
  const result = confirmation
    ? undefined
    : resultText(isCancelled && query.done === 'confirmed' ? 'cancelled' : query.done);
  return frame(
    site,
    'Your appointment',
    html`
      ${query.problem !== undefined && alert(problemText(query.problem))}
      ${result !== undefined && html`<p role="status" class="notice">${result}</p>`}
      ${details(site, start, names)}
      ${isCancelled && result === undefined && html`<p>This appointment is cancelled.</p>`}
      ${confirmation && codeForm(id, confirmation, form)}
      ${
        !isCancelled &&
        !confirmation &&
        html`<p class="actions">
          <a href="${search('/times', { service, moving: id })}">Move</a>
          <a href="/appointments/${id}/cancel">Cancel</a>
        </p>`
      }
      <p><a href="/">Back to the start</a></p>`,
  );
}

function codeForm(id: string, { kind, channel }: NonNullable<Appointment['confirmation']>, form: string): Html {
  return html`
    <form action="/appointments/${id}/code" method="post">
      <p id="hint">We have sent you a code by ${channel === 'sms' ? 'SMS' : 'e-mail'}.
        Enter it to ${kind === 'cancellation' ? 'cancel the appointment' : 'confirm the booking'}.</p>
      <label for="code">Code</label>
      <input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" aria-describedby="hint" required>
      <input type="hidden" name="form" value="${form}">
      <button>Confirm</button>
    </form>
    <form action="/appointments/${id}/resend" method="post">
      <input type="hidden" name="form" value="${form}">
      <button class="quiet">Send a new code</button>
    </form>`;
}

export function cancelPage(site: Site, { appointment: { id, start }, names }: Shown, form: string): Html {
  return frame(
    site,
    'Cancel this appointment?',
    html`
      ${details(site, start, names)}
      <form action="/appointments/${id}/cancel" method="post">
        <input type="hidden" name="form" value="${form}">
        <button>Cancel the appointment</button>
      </form>
      <p><a href="/appointments/${id}">Keep it</a></p>`,
  );
}

export function errorPage(site: Site, reason: string | undefined): Html {
  return frame(site, 'That did not work', html`${alert(problemText(reason))}<p><a href="/">Back to the start</a></p>`);
}

function details(site: Site, start: string, names: string): Html {
  return html`<p class="when">${when(site, start)}</p><p>${names}</p>`;
}

function alert(text: string): Html {
  return html`<p role="alert" class="problem">${text}</p>`;
}

function frame({ clinic }: Site, title: string, content: Html): Html {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title} – ${clinic}</title>
    <link rel="stylesheet" href="/style.css">
    <link rel="icon" href="data:,">
  </head>
  <body>
    <header><p>${clinic}</p></header>
    <main><h1>${title}</h1>${content}</main>
  </body>
</html>`;
}

function when({ timeZone }: Site, time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '';
  return date.toLocaleString('en-GB', { timeZone, dateStyle: 'full', timeStyle: 'short' });
}

function dayOf({ timeZone }: Site, time: string): string {
  return new Date(time).toLocaleDateString('en-GB', { timeZone, dateStyle: 'full' });
}

function timeOf({ timeZone }: Site, time: string): string {
  return new Date(time).toLocaleTimeString('en-GB', { timeZone, timeStyle: 'short' });
}

function search(path: string, fields: Fields): string {
  const given = Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `${path}?${new URLSearchParams(given)}`;
}
