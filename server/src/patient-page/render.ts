import type { CareUnitConnection } from '../ehr/connection.ts';
import { type Html, type HtmlContent, html } from '../html/html.ts';
import { formatInstant } from '../time/date-times.ts';
import type { Result } from './actions.ts';
import { texts } from './all-texts.ts';
import type { PageAssets } from './assets.ts';
import { type Frame, phoneLink, renderFrame } from './frame.ts';
import { icons } from './icons.ts';
import type { Language } from './language.ts';
import type { Passage, Reach, Texts } from './texts.ts';
import { clockText, dayText, isSameDay } from './times.ts';
import { canCancel, isHeld, isInCalendar, type PageState, type PageView, type ShownAppointment } from './view.ts';

/** A page of one care unit, in one language. */
export interface RenderedPage {
  readonly view: PageView;
  readonly careUnit: CareUnitConnection;
  readonly language: Language;
  readonly assets: PageAssets;
  /** The result of the last form, unless the state shows it. */
  readonly result: Result | undefined;
  /** The patient wants to cancel, and is asked once more. */
  readonly isCancelling: boolean;
  /** Where the patient goes on, once there is an outcome. */
  readonly returnLink: string | undefined;
  /** Where the file for a calendar is, below this page. */
  readonly calendarPath: string;
  readonly now: Date;
}

/** The page for patients. It shows nothing about the patient, and no identifier of the appointment. */
export function renderPage(page: RenderedPage): string {
  const { view, careUnit, language, assets } = page;
  const { name = careUnit.name, phone } = careUnit.patientPage;
  const frame: Frame = { language, texts: texts[language], assets, name, phone };
  if (page.isCancelling && canCancel(view)) {
    const { confirmCancel, confirmRelease } = frame.texts;
    const passage = (isHeld(view) ? confirmRelease : confirmCancel)[countOf(view)];
    return renderFrame(
      { ...frame, query: { step: 'cancel' } },
      passage.heading,
      cancelStep(page, frame.texts, passage),
    );
  }
  const isTaken = page.result === 'taken' && view.state === 'cancelled';
  const { taken, states } = frame.texts;
  const passage = isTaken ? taken : states[view.confirmation.kind][view.state][countOf(view)];
  const error = fieldError(page, frame.texts);
  const title = error === undefined ? passage.heading : `${frame.texts.errorPrefix}: ${passage.heading}`;
  return renderFrame(frame, title, stateContent(page, frame.texts, passage, error));
}

/** A page without a confirmation: the link is not valid, or something failed. */
export function renderMessage(language: Language, assets: PageAssets, choose: (texts: Texts) => Passage): string {
  const { heading, text } = choose(texts[language]);
  const frame: Frame = { language, texts: texts[language], assets };
  return renderFrame(frame, heading, html`${stateIcon('expired')}<h1>${heading}</h1>\n<p>${text}</p>`);
}

function stateContent(page: RenderedPage, words: Texts, { heading, text }: Passage, error: string | undefined): Html {
  const { view, returnLink } = page;
  const { state } = view;
  return html`${message(page, words, error)}${state === 'waiting' ? '' : stateIcon(state)}<h1>${heading}</h1>
<p>${text}</p>
${isHeld(view) && html`<p>${words.held[countOf(view)](...expiry(page))}</p>\n`}${
  // What ended without an appointment, the clinic may still help with.
  (state === 'locked' || state === 'expired') && html`<p>${reach(page, words.reach)}</p>\n`
}${details(page, words)}
${state === 'waiting' && codeForm(page, words, error)}
${
  (state === 'checking' || state === 'unavailable') &&
  html`<p class="actions"><a class="button" href="${own(page)}">${words.reload}</a></p>`
}
${isHeld(view) && html`<p class="actions"><a class="button" href="${own(page, { step: 'cancel' })}">${words.release[countOf(view)]}</a></p>`}
${returnLink !== undefined && html`<p class="actions"><a class="button${isHeld(view) && ' secondary'}" href="${returnLink}">${words.goOn}</a></p>`}
${also(page, words)}`;
}

/** How to reach the clinic. */
function reach({ careUnit }: RenderedPage, { call, contact }: Reach): HtmlContent {
  const { phone } = careUnit.patientPage;
  return phone === undefined ? contact : html`${call} ${phoneLink(phone)}`;
}

function countOf({ confirmation, appointments }: PageView): 'one' | 'many' {
  return Math.max(appointments.length, appointments.length === 0 ? confirmation.items.length : 0) > 1 ? 'many' : 'one';
}

/** The URL of this page, in the same language. */
function own({ language }: RenderedPage, more: Readonly<Record<string, string>> = {}): string {
  return `?${new URLSearchParams({ ...more, lang: language })}`;
}

function stateIcon(state: PageState): Html {
  if (state === 'confirmed') return html`<div class="state good">${icons.done}</div>\n`;
  const isOpen = state === 'checking' || state === 'unavailable';
  return html`<div class="state">${isOpen ? icons.waiting : icons.ended}</div>\n`;
}

function fieldError(
  { view: { confirmation, state }, careUnit, result }: RenderedPage,
  words: Texts,
): string | undefined {
  if (state !== 'waiting') return undefined;
  if (result === 'malformed') return words.malformed(careUnit.code.length);
  return result === 'incorrect' ? words.incorrect(confirmation.attemptsRemaining) : undefined;
}

/** The result of the last form. Focus and screen readers start here. */
function message(page: RenderedPage, words: Texts, error: string | undefined): HtmlContent {
  const { view, result } = page;
  if (error !== undefined) {
    return html`<div class="message bad" role="alert" tabindex="-1" autofocus>${icons.problem}<div>
<h2>${words.errorTitle}</h2>
<p><a href="#code">${error}</a></p>
</div></div>
`;
  }
  // A locked booking can be cancelled, so the cancellation can fail.
  const isLocked = view.state === 'locked' && canCancel(view) && isFailure(result);
  if (view.state !== 'waiting' && !isLocked) return '';
  if (result === undefined || result === 'malformed' || result === 'incorrect' || result === 'taken') {
    return undeliveredMessage(page, words);
  }
  // A new code that has not left either.
  if (result === 'sent' && isUndelivered(view)) return undeliveredMessage(page, words);
  const isGood = result === 'sent';
  return html`<div class="message${isGood ? ' good' : ''}" role="status" tabindex="-1" autofocus>${
    isGood ? icons.done : icons.problem
  }<p>${words.notices[result]}${result === 'rejected' && html` ${reach(page, words.reach)}`}</p></div>
`;
}

function isFailure(result: Result | undefined): boolean {
  return result === 'unavailable' || result === 'unknown' || result === 'rejected';
}

function isUndelivered({ confirmation: { delivery } }: PageView): boolean {
  return delivery === 'delayed' || delivery === 'failed';
}

function undeliveredMessage(page: RenderedPage, words: Texts): HtmlContent {
  const { delivery, mayResend } = page.view.confirmation;
  if (page.view.state !== 'waiting' || !isUndelivered(page.view)) return '';
  const text =
    delivery === 'delayed' ? words.late : `${words.notDelivered}${mayResend ? ` ${words.requestAnother}` : ''}`;
  return html`<div class="message">${icons.problem}<p>${text} ${reach(page, words.reach)}</p></div>\n`;
}

function details({ view: { appointments }, careUnit, language }: RenderedPage, words: Texts): HtmlContent {
  const { patientPage, name } = careUnit;
  return appointments.map(
    ({ start, end, resource }) => html`<dl class="appointment">
<div><dt>${words.time}</dt><dd>${when({ start, end }, careUnit.timeZone, language, words)}</dd></div>
<div><dt>${words.place}</dt><dd>${patientPage.name ?? name}${
      patientPage.address !== undefined && html`<br>${patientPage.address}`
    }</dd></div>
${resource && html`<div><dt>${words.resource[resource.kind]}</dt><dd>${resource.name}</dd></div>\n`}</dl>
`,
  );
}

function when(
  { start, end }: Pick<ShownAppointment, 'start' | 'end'>,
  timeZone: string,
  language: Language,
  words: Texts,
): Html {
  const time = (instant: Date) =>
    html`<time datetime="${formatInstant(instant, timeZone)}">${clockText(instant, timeZone)}</time>`;
  return html`<span class="day">${dayText(start, timeZone, language)}</span><br>${time(start)}${end && html` ${words.until} ${time(end)}`}`;
}

function codeForm(page: RenderedPage, words: Texts, error: string | undefined): Html {
  const { confirmation } = page.view;
  const { kind, channel, delivery } = confirmation;
  const left = `${words.sentBy[channel]} `;
  const sent = { queued: `${words.sendingBy[channel]} `, sent: left, delivered: left, delayed: '', failed: '' };
  const described = error === undefined ? 'code-hint' : 'code-hint code-error';
  return html`<form method="post" action="${own(page)}" novalidate>
<label for="code">${words.code}</label>
<p class="hint" id="code-hint">${sent[delivery]}${words.validUntil(...expiry(page))}</p>
${error !== undefined && html`<p class="error" id="code-error">${error}</p>\n`}<input type="text" id="code" name="code"
 inputmode="numeric" autocomplete="one-time-code" autocapitalize="off" autocorrect="off" spellcheck="false" maxlength="100"
 required aria-describedby="${described}"${error !== undefined && html` aria-invalid="true"`}>
<button${kind === 'cancellation' && html` class="danger"`} name="action" value="confirm">${words.submit[kind]}</button>
</form>`;
}

/** When the code expires, and with it the hold: the time, and the day if it is not today. */
function expiry({
  view,
  careUnit: { timeZone },
  language,
  now,
}: RenderedPage): [time: string, day: string | undefined] {
  const { expiresAt } = view.confirmation;
  const day = isSameDay(expiresAt, now, timeZone) ? undefined : dayText(expiresAt, timeZone, language);
  return [clockText(expiresAt, timeZone), day];
}

/** What else the patient can do. */
function also(page: RenderedPage, words: Texts): HtmlContent {
  const { view } = page;
  const { calendar, calendarCancelled, change } = words;
  const entry = view.state === 'cancelled' ? calendarCancelled : calendar;
  const file = isInCalendar(view) && html`<p><a href="${page.calendarPath}">${entry[countOf(view)]}</a></p>\n`;
  if (view.state === 'confirmed' && view.confirmation.kind === 'booking') {
    return html`<div class="also">${file}<p>${reach(page, change)}</p></div>`;
  }
  if (file) return html`<div class="also">${file}</div>`;
  const cancel =
    canCancel(view) &&
    !isHeld(view) &&
    html`<p><a href="${own(page, { step: 'cancel' })}">${words.cancel[countOf(view)]}</a></p>`;
  if (view.state !== 'waiting') return cancel && html`<div class="also">${cancel}</div>`;
  return html`<div class="also">${anotherCode(page, words)}
${cancel}</div>`;
}

/** A new code, once the message with the first one has left or failed. Until then, what has become of that message. */
function anotherCode(page: RenderedPage, words: Texts): Html {
  const { delivery, mayResend } = page.view.confirmation;
  if (delivery === 'queued' || delivery === 'delayed') {
    return html`<p>${words.noCode} <a href="${own(page)}">${words.reload}</a></p>`;
  }
  return mayResend
    ? html`<form method="post" action="${own(page)}"><p>${words.noCode} <button class="link" name="action" value="resend">${
        words.resend
      }</button></p></form>`
    : html`<p class="quiet">${words.noMoreCodes} ${reach(page, words.reach)}</p>`;
}

function cancelStep(page: RenderedPage, words: Texts, { heading, text }: Passage): Html {
  return html`<h1>${heading}</h1>
<p>${text}</p>
${details(page, words)}
<form method="post" action="${own(page)}">
<button class="danger" name="action" value="cancel">${isHeld(page.view) ? words.releaseNow : words.cancelNow}</button>
<a class="button secondary" href="${own(page)}">${words.keep}</a>
</form>`;
}
