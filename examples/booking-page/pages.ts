import { randomUUID } from 'node:crypto';
import type {
  Appointment,
  FoundTimeSlot,
  HealthcareService,
  Resource,
  TimeSlot,
  UnansweredCareUnit,
} from '../../client/src/index.ts';
import { type Html, html } from '../../server/src/html/html.ts';
import { type Language, textsOf } from './all-texts.ts';
import { problemText, resultText, type Texts } from './texts.ts';

interface Site {
  readonly clinic: string;
  readonly timeZone: string;
  readonly language: Language;
}

type Fields = Readonly<Record<string, string | undefined>>;

export function startPage(
  site: Site,
  services: readonly HealthcareService[],
  appointments: readonly Appointment[],
): Html {
  const texts = textsOf[site.language];
  const today = new Date().toISOString().slice(0, 10);
  return frame(
    site,
    texts.bookATime,
    html`
      <section>
        <h2>${texts.findATime}</h2>
        <form action="/times" method="get">
          <label for="service">${texts.whatAbout}</label>
          <select id="service" name="service">
            ${services.map(({ id, name }) => html`<option value="${id}">${name}</option>`)}
          </select>
          <label for="from">${texts.from}</label>
          <input id="from" name="from" type="date" value="${today}" min="${today}" required>
          <button>${texts.showTimes}</button>
          <button class="quiet" formaction="/nearby">${texts.firstTimesNearby}</button>
        </form>
      </section>
      <section>
        <h2>${texts.yourAppointments}</h2>
        ${
          appointments.length === 0
            ? html`<p>${texts.noAppointments}</p>`
            : html`<ul>${appointments.map((appointment) => linkTo(site, appointment))}</ul>`
        }
      </section>`,
  );
}

function linkTo(site: Site, { id, start, status }: Appointment): Html {
  return html`<li><a href="/appointments/${id}">${when(site, start)}</a>${status !== 'booked' && ` (${textsOf[site.language].awaitsCode})`}</li>`;
}

/** A clinic with a page of its own. */
export interface Clinic {
  readonly place: { readonly emr: string; readonly care_unit_id: string };
  readonly name: string;
  readonly timeZone: string;
  /** Of its page, without a slash at the end. */
  readonly url: string;
}

interface TimesNearby {
  readonly slots: readonly FoundTimeSlot[];
  readonly unanswered: readonly UnansweredCareUnit[];
  readonly clinics: readonly Clinic[];
}

/** The first times of all clinics, the first one first. Each is booked on the page of its clinic. */
export function nearbyPage(site: Site, service: string, { slots, unanswered, clinics }: TimesNearby): Html {
  const texts = textsOf[site.language];
  const clinicOf = (it: Clinic['place']) =>
    clinics.find(({ place }) => place.emr === it.emr && place.care_unit_id === it.care_unit_id);
  const entry = (slot: FoundTimeSlot) => {
    const { url = '', name, timeZone = site.timeZone } = clinicOf(slot) ?? {};
    const { start, end, resource } = slot;
    const fields = { service, resource: resource.id, start, end, form: randomUUID() };
    const names = [name, resource.name].filter(Boolean).join(', ');
    return html`<li><a href="${search(`${url}/book`, fields)}">${when({ ...site, timeZone }, start)}, ${names}</a></li>`;
  };
  const silent = unanswered.flatMap((it) => clinicOf(it)?.name ?? []);
  return frame(
    site,
    texts.firstTimesNearby,
    html`
      ${silent.length > 0 && html`<p role="status" class="notice">${texts.didNotAnswer} ${silent.join(', ')}</p>`}
      ${slots.length === 0 ? html`<p>${texts.noTimes}</p>` : html`<ul>${slots.map(entry)}</ul>`}
      <p><a href="/">${texts.backToStart}</a></p>`,
  );
}

interface Times {
  readonly slots: readonly TimeSlot[];
  readonly resources: readonly Resource[];
  /** The query of the page after this one. */
  readonly later: Fields;
}

export function timesPage(site: Site, query: Fields, { slots, resources, later }: Times): Html {
  const { service = '', moving } = query;
  const texts = textsOf[site.language];
  const linkOf = (slot: TimeSlot) =>
    search('/book', {
      service,
      moving,
      resource: slot.resource_id,
      start: slot.start,
      end: slot.end,
      form: randomUUID(),
    });
  /** A link says whose time it is, because people who use a screen reader also go from link to link. */
  const timesOf = (name: string, slotsOfDay: readonly TimeSlot[]) =>
    slotsOfDay.map(
      (slot) =>
        html`<li><a href="${linkOf(slot)}" aria-label="${timeOf(site, slot.start)}, ${dayOf(site, slot.start)}, ${name}">${timeOf(site, slot.start)}</a></li>`,
    );
  return frame(
    site,
    moving ? texts.chooseAnotherTime : texts.chooseTime,
    html`
      ${query.problem !== undefined && alert(problemText(texts, query.problem))}
      ${slots.length === 0 && html`<p>${texts.noTimes}</p>`}
      ${byPerson(slots, resources).map(
        ([name, own]) => html`
        <section>
          <h2>${name}</h2>
          ${[...Map.groupBy(own, ({ start }) => dayOf(site, start))].map(
            ([day, slotsOfDay]) => html`<h3>${day}</h3><ul class="times">${timesOf(name, slotsOfDay)}</ul>`,
          )}
        </section>`,
      )}
      <p><a href="${search('/times', { service, moving, ...later })}">${texts.laterTimes}</a></p>
      <p><a href="/">${texts.backToStart}</a></p>`,
  );
}

/** The times of each person or room, by name. */
function byPerson(slots: readonly TimeSlot[], resources: readonly Resource[]): [string, readonly TimeSlot[]][] {
  const names = new Map(resources.map(({ id, name }) => [id, name]));
  return [...Map.groupBy(slots, ({ resource_id }) => names.get(resource_id) ?? '')].sort(([one], [other]) =>
    one.localeCompare(other),
  );
}

/** @param names of the service and the resource */
export function bookingPage(site: Site, fields: Fields, names: string): Html {
  const { start = '', service, resource, end, moving, form } = fields;
  const texts = textsOf[site.language];
  const kept = { service, resource, start, end, moving, form };
  return frame(
    site,
    moving ? texts.moveAppointment : texts.bookThisTime,
    html`
      ${fields.problem !== undefined && alert(problemText(texts, fields.problem))}
      ${details(site, start, names)}
      <form action="/book" method="post">
        ${Object.entries(kept).map(
          ([name, value]) => value !== undefined && html`<input type="hidden" name="${name}" value="${value}">`,
        )}
        <button>${moving ? texts.move : texts.book}</button>
      </form>
      <p><a href="${search('/times', { service, moving })}">${texts.chooseAnotherTime}</a></p>`,
  );
}

interface Shown {
  readonly appointment: Appointment;
  /** Of the service and the resource. */
  readonly names: string;
}

export function appointmentPage(site: Site, { appointment, names }: Shown, query: Fields, form: string): Html {
  const { id, start, status, confirmation, healthcare_service_id: service } = appointment;
  const texts = textsOf[site.language];
  const isCancelled = status === 'cancelled';
  // A code confirms a booking or a cancellation.
  const result = confirmation
    ? undefined
    : resultText(texts, isCancelled && query.done === 'confirmed' ? 'cancelled' : query.done);
  return frame(
    site,
    texts.yourAppointment,
    html`
      ${query.problem !== undefined && alert(problemText(texts, query.problem))}
      ${result !== undefined && html`<p role="status" class="notice">${result}</p>`}
      ${details(site, start, names)}
      ${isCancelled && result === undefined && html`<p>${texts.isCancelled}</p>`}
      ${confirmation && codeForm(texts, id, confirmation, form)}
      ${
        !isCancelled &&
        !confirmation &&
        html`<p class="actions">
          ${service !== null && html`<a href="${search('/times', { service, moving: id })}">${texts.move}</a>`}
          <a href="/appointments/${id}/cancel">${texts.cancel}</a>
        </p>`
      }
      <p><a href="/">${texts.backToStart}</a></p>`,
  );
}

function codeForm(
  texts: Texts,
  id: string,
  { kind, channel }: NonNullable<Appointment['confirmation']>,
  form: string,
): Html {
  return html`
    <form action="/appointments/${id}/code" method="post">
      <p id="hint">${texts.codeSent[channel]} ${texts.enterCode[kind]}</p>
      <label for="code">${texts.code}</label>
      <input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" aria-describedby="hint" required>
      <input type="hidden" name="form" value="${form}">
      <button${kind === 'cancellation' && html` class="danger"`}>${texts.confirm}</button>
    </form>
    <form action="/appointments/${id}/resend" method="post">
      <input type="hidden" name="form" value="${form}">
      <button class="quiet">${texts.sendNewCode}</button>
    </form>`;
}

export function cancelPage(site: Site, { appointment: { id, start }, names }: Shown, form: string): Html {
  const texts = textsOf[site.language];
  return frame(
    site,
    texts.cancelThis,
    html`
      ${details(site, start, names)}
      <form action="/appointments/${id}/cancel" method="post">
        <input type="hidden" name="form" value="${form}">
        <button class="danger">${texts.cancelAppointment}</button>
      </form>
      <p><a href="/appointments/${id}">${texts.keepIt}</a></p>`,
  );
}

export function errorPage(site: Site, reason: string | undefined): Html {
  const texts = textsOf[site.language];
  const content = html`${alert(problemText(texts, reason))}<p><a href="/">${texts.backToStart}</a></p>`;
  return frame(site, texts.didNotWork, content);
}

function details(site: Site, start: string, names: string): Html {
  return html`<p class="when">${when(site, start)}</p><p>${names}</p>`;
}

function alert(text: string): Html {
  return html`<p role="alert" class="problem">${text}</p>`;
}

function frame({ clinic, language }: Site, title: string, content: Html): Html {
  return html`<!doctype html>
<html lang="${language}">
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

function when({ timeZone, language }: Site, time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '';
  return date.toLocaleString(textsOf[language].locale, { timeZone, dateStyle: 'full', timeStyle: 'short' });
}

function dayOf({ timeZone, language }: Site, time: string): string {
  return new Date(time).toLocaleDateString(textsOf[language].locale, { timeZone, dateStyle: 'full' });
}

function timeOf({ timeZone, language }: Site, time: string): string {
  return new Date(time).toLocaleTimeString(textsOf[language].locale, { timeZone, timeStyle: 'short' });
}

function search(path: string, fields: Fields): string {
  const given = Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return `${path}?${new URLSearchParams(given)}`;
}
