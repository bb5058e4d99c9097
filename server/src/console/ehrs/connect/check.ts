import { isMapping } from '../../../config/mistakes/mistake.ts';
import { configuredEmr } from '../../../config/one-emr.ts';
import { checkConnection, connectionFindings, type EmrCheck, isConnectionWell } from '../../../ehr/check-connection.ts';
import { addressAdvice } from '../../../ehr/guard/ehr-http.ts';
import { neededSecrets } from '../../../ehr/stored/kept-secrets.ts';
import { type Html, html } from '../../../html/html.ts';
import { NotPossible, record } from '../../audit/act.ts';
import { consolePage, postForm } from '../../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn, seeOther } from '../../frame/page.ts';
import { notice, table } from '../../frame/parts.ts';
import { capabilities, describeFailure, findingsTable } from '../connections.ts';
import { rejectionText } from '../emr-actions.ts';
import { reportOn } from '../report.ts';
import {
  type Connecting,
  changeWithItsSecrets,
  emrVersionField,
  findConnecting,
  isResponse,
  missingSecrets,
  settingMistakes,
  stepHead,
} from './connection-parts.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'connections/:emr/check', role: 'admin', page: checkPage },
  { method: 'POST', path: 'connections/:emr/check', role: 'admin', page: runCheck },
  { method: 'POST', path: 'connections/:emr/check/report', role: 'admin', page: reportOnStored },
  { method: 'POST', path: 'connections/:emr/apply', role: 'admin', page: applyRecommended },
];

async function checkPage(context: SignedIn): Promise<ConsoleResponse> {
  const emr = await findConnecting(context);
  if (isResponse(emr)) return emr;
  return page(
    context,
    emr,
    html`<p>The check asks the server of the EHR what it can do, and recommends settings. What it tries out in the EHR it
takes back. It can take a minute.</p>
${checkButton(context, emr, 'Check')}`,
  );
}

/** Checks a draft as it is stored, with its secrets. */
async function runCheck(context: SignedIn): Promise<ConsoleResponse> {
  const emr = await findConnecting(context);
  if (isResponse(emr)) return emr;
  if (settingsLack(emr)) return seeOther(context, `connections/${emr.id}/settings`);
  const check = await checkStored(context, emr);
  const isWell = isConnectionWell(check);
  return page(
    context,
    emr,
    html`${isWell ? notice('good', 'The connection works.') : notice('bad', 'The check has found a problem.')}
<h3>Findings</h3>
${findingsTable(check)}
${check.claims ? capabilities(check.claims) : html`<p class="advice bad">The connection cannot be opened: ${check.error}</p>`}
${recommended(context, emr, check)}
${allowPrivate(context, emr, check)}
<div class="actions">${postForm(context, `connections/${emr.id}/check`, html`<button>Check again</button>`)}${postForm(
      context,
      `connections/${emr.id}/check/report`,
      html`<button class="secondary">Report to hand over</button>`,
    )}</div>
<p><a href="${linkTo(context, `connections/${emr.id}/care-units`)}">Go on to the care units</a></p>`,
  );
}

/** Checks it as `runCheck` does, and shows the report to print. */
async function reportOnStored(context: SignedIn): Promise<ConsoleResponse> {
  const emr = await findConnecting(context);
  if (isResponse(emr)) return emr;
  if (settingsLack(emr)) return seeOther(context, `connections/${emr.id}/settings`);
  return reportOn(context, await checkStored(context, emr), configuredEmr(emr.definition, emr.secrets ?? {}));
}

/** Whether the settings have mistakes, so that there is nothing to check. */
export function settingsLack(emr: Connecting): boolean {
  return !emr.module || !emr.secrets || settingMistakes(emr).length > 0 || missingSecrets(emr).length > 0;
}

/** Runs the check and records it. */
export async function checkStored({ deps, session }: SignedIn, emr: Connecting): Promise<EmrCheck> {
  const { id, definition, secrets = {}, module } = emr;
  if (!module) throw new Error('An EHR without a connector is not checked');
  const configured = configuredEmr(definition, secrets);
  const check = await checkConnection({ emr: configured, module }, deps.database).catch(
    (error: unknown): EmrCheck => ({ emr: id, connector: module.name, claims: null, error: describeFailure(error) }),
  );
  const outcome = isConnectionWell(check) ? 'done' : 'problem';
  await record(deps.services.db, session, { action: 'connection_check', target: id, outcome });
  return check;
}

/** The settings that mend what was found, each with a button that stores it. */
function recommended(context: SignedIn, emr: Connecting, { probe }: EmrCheck): Html | false {
  const entries = Object.entries(probe?.recommendedSettings ?? {});
  if (entries.length === 0) return false;
  // No secret goes to an address that it was not given for: those are typed, with the secrets.
  const mayApply = (settings: Readonly<Record<string, unknown>>) =>
    !neededSecrets(withSettings(emr, settings), {}, emr).isElsewhere;
  const apply = (settings: Readonly<Record<string, unknown>>, label: Html) =>
    mayApply(settings) &&
    postForm(
      context,
      `connections/${emr.id}/apply`,
      html`${emrVersionField(emr)}<input type="hidden" name="settings" value="${JSON.stringify(settings)}">
<button class="small">${label}</button>`,
    );
  return html`<h3>Recommended settings</h3>
${table(
  'Settings that the check recommends',
  ['Setting', 'Value', 'Apply'],
  entries.map(([key, value]) => [
    html`<code>${key}</code>`,
    html`<code>${JSON.stringify(value)}</code>`,
    apply({ [key]: value }, html`Apply<span class="aside"> ${key}</span>`) ||
      'Under Settings, with the secrets: it names an address.',
  ]),
)}${entries.length > 1 && html`<div class="actions">${apply(Object.fromEntries(entries), html`Apply all`)}</div>`}`;
}

/** The button for an EHR whose address the gateway has rejected. */
function allowPrivate(context: SignedIn, emr: Connecting, check: EmrCheck): Html | false {
  const texts = [check.error ?? '', ...connectionFindings(check).map(({ detail }) => detail)];
  const { connection } = isMapping(emr.definition) ? emr.definition : {};
  const isAllowed = isMapping(connection) && connection.allow_private_addresses === true;
  if (isAllowed || !texts.some((text) => text.includes(addressAdvice))) return false;
  return html`<h3>Private addresses</h3>
<p>The gateway does not connect to addresses of its own machine and of private networks, unless the EHR is allowed to be there.</p>
<p class="advice">Allow it only if you know the server: otherwise a mistyped or foreign address can reach systems that nobody outside
should reach, and sends them the credentials of this EHR.</p>
${postForm(
  context,
  `connections/${emr.id}/apply`,
  html`${emrVersionField(emr)}<input type="hidden" name="private" value="yes">
<div class="actions"><button class="secondary">Allow private addresses</button></div>`,
)}`;
}

/** Stores recommended settings, or that the EHR is in a private network. */
async function applyRecommended(context: SignedIn): Promise<ConsoleResponse> {
  const emr = await findConnecting(context);
  if (isResponse(emr)) return emr;
  const { form } = context.request;
  const definition = form.has('private')
    ? withPrivateAddresses(emr)
    : withSettings(emr, parse(form.get('settings') ?? ''));
  const result = await changeWithItsSecrets(context, emr, definition);
  if (!(result instanceof NotPossible)) return seeOther(context, `connections/${emr.id}/check?result=applied`);
  return page(context, emr, html`${notice('bad', rejectionText(result))}${checkButton(context, emr, 'Check again')}`);
}

/** The definition of an EHR with other settings. A part of a setting leaves the others, such as those of the sign-in. */
function withSettings({ definition }: Connecting, settings: Readonly<Record<string, unknown>>) {
  const former = isMapping(definition) ? definition : {};
  const stored = isMapping(former.settings) ? former.settings : {};
  const applied = Object.entries(settings).map(([key, value]) => {
    const before = stored[key];
    return [key, isMapping(before) && isMapping(value) ? { ...before, ...value } : value] as const;
  });
  return { ...former, settings: { ...stored, ...Object.fromEntries(applied) } };
}

function withPrivateAddresses({ definition }: Connecting) {
  const former = isMapping(definition) ? definition : {};
  const connection = isMapping(former.connection) ? former.connection : {};
  return { ...former, connection: { ...connection, allow_private_addresses: true } };
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isMapping(value) ? value : {};
  } catch {
    return {};
  }
}

function checkButton(context: SignedIn, { id }: Connecting, label: string): Html {
  return postForm(context, `connections/${id}/check`, html`<div class="actions"><button>${label}</button></div>`);
}

function page(context: SignedIn, emr: Connecting, content: Html): ConsoleResponse {
  return consolePage(context, {
    title: `Check of ${emr.name}`,
    section: 'connections',
    content: html`${stepHead(context, emr, 'check')}<h2>Check</h2>${content}`,
  });
}
