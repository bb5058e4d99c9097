import type { EhrPlace } from '@crossward/connector-kit';
import { isMapping } from '../../../config/mistakes/mistake.ts';
import { configuredEmr } from '../../../config/one-emr.ts';
import { emrInFileSchema } from '../../../config/schema/schema.ts';
import { bindEmr } from '../../../ehr/check-connection.ts';
import { type Html, html } from '../../../html/html.ts';
import { NotPossible, record } from '../../audit/act.ts';
import { consolePage, postForm } from '../../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn, seeOther } from '../../frame/page.ts';
import { type FieldMistake, mistakeSummary, notice, table } from '../../frame/parts.ts';
import { describeFailure } from '../connections.ts';
import { rejectionText } from '../emr-actions.ts';
import { settingsLack } from './check.ts';
import {
  type Connecting,
  changeWithItsSecrets,
  connecting,
  emrVersionField,
  findConnecting,
  isResponse,
  stepHead,
} from './connection-parts.ts';
import { guessedUnit } from './guess.ts';
import { readFields } from './read-form.ts';
import { type Field, schemaFields } from './schema-fields.ts';
import { formFields, mistakesInFields, type ShownForm } from './show-form.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'connections/:emr/care-units', role: 'admin', page: careUnitsPage },
  { method: 'POST', path: 'connections/:emr/care-units', role: 'admin', isLongForm: true, page: saveCareUnit },
  { method: 'POST', path: 'connections/:emr/places', role: 'admin', page: offerPlaces },
];

/** The care units, and the form of one: the one that the query names, otherwise a new one. */
async function careUnitsPage(context: SignedIn): Promise<ConsoleResponse> {
  const emr = await findConnecting(context);
  if (isResponse(emr)) return emr;
  const { query } = context.request;
  const chosen = unitsOf(emr).find(({ id }) => id === query.get('unit'));
  const place = placeIn(query);
  const shown = chosen ?? { ...guessedUnit(emr.definition), ...(place && unitAt(place)) };
  return page(context, emr, { definition: shown, mistakes: [] }, idOf(chosen));
}

/** Asks the EHR for the places of which care units can be made. */
async function offerPlaces(context: SignedIn): Promise<ConsoleResponse> {
  const emr = await findConnecting(context);
  if (isResponse(emr)) return emr;
  const { deps, session } = context;
  if (!emr.module || settingsLack(emr)) return seeOther(context, `connections/${emr.id}/settings`);
  const chosen = { emr: configuredEmr(emr.definition, emr.secrets ?? {}), module: emr.module };
  const found = await bindEmr(chosen, deps.database)
    .then((bound) => bound.places().finally(() => bound.close()))
    .catch((error: unknown) => describeFailure(error));
  const outcome = typeof found === 'string' ? 'problem' : 'done';
  await record(deps.services.db, session, { action: 'connection_check', target: emr.id, outcome });
  return page(
    context,
    emr,
    { definition: guessedUnit(emr.definition), mistakes: [] },
    '',
    placeTable(context, emr, found),
  );
}

/** What the EHR has, each with a link to the form for it. */
function placeTable({ depth }: SignedIn, { id }: Connecting, found: readonly EhrPlace[] | string): Html {
  if (typeof found === 'string')
    return notice('bad', `The EHR was asked for its places, and the call failed: ${found}.`);
  if (found.length === 0) return html`<p class="empty">The EHR, or its connector, names no places.</p>`;
  return table(
    'Places of the EHR',
    ['Place', 'Settings', 'Use'],
    found.map((place) => [
      place.name,
      html`<code>${JSON.stringify(place.settings)}</code>`,
      html`<a href="${linkTo({ depth }, `connections/${id}/care-units?place=${encodeURIComponent(JSON.stringify(place))}`)}">Use<span class="aside"> ${place.name}</span></a>`,
    ]),
  );
}

function placeIn(query: URLSearchParams): EhrPlace | undefined {
  try {
    const place: unknown = JSON.parse(query.get('place') ?? 'null');
    if (!isMapping(place) || typeof place.name !== 'string' || !isMapping(place.settings)) return undefined;
    return { name: place.name, settings: place.settings };
  } catch {
    return undefined;
  }
}

/** A care unit at a place, for which the operator can choose another id and name. */
function unitAt({ name, settings }: EhrPlace): Unit {
  const id = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
  return { id: id.replaceAll(/^-+|-+$/g, '').slice(0, 63), name: name.slice(0, 200), settings };
}

/** Adds a care unit, changes the one that `former` names, or removes it. */
async function saveCareUnit(context: SignedIn): Promise<ConsoleResponse> {
  const emr = await findConnecting(context);
  if (isResponse(emr)) return emr;
  const { form } = context.request;
  const former = form.get('former') ?? '';
  const units = unitsOf(emr);
  const stored = units.find(({ id }) => id === former);
  const read = readFields(unitFields, { form, stored, prefix: `${emr.id}_${form.get('id') ?? ''}` });
  const again = (mistakes: readonly FieldMistake[]) =>
    page(context, emr, { definition: stored, mistakes, form }, former);
  if (read.mistakes.length > 0) return again(read.mistakes);
  const isRemoval = form.has('remove');
  const unit = read.value ?? {};
  const next = isRemoval
    ? units.filter((it) => it !== stored)
    : stored
      ? units.map((it) => (it === stored ? unit : it))
      : [...units, unit];
  const definition = { ...(isMapping(emr.definition) ? emr.definition : {}), care_units: next };
  const index = next.indexOf(unit);
  const { mistakes } = connecting(context, { ...emr, definition });
  const own = mistakes
    .filter(({ path }) => path[2] === 'care_units' && path[3] === index)
    .map((mistake) => ({ ...mistake, path: [...mistake.path.slice(0, 2), ...mistake.path.slice(4)] }));
  if (own.length > 0) return again(orOfId(mistakesInFields(own, unitFields)));
  if (emr.isOpen && mistakes.length > 0) return again([['id', 'An EHR that is open needs a care unit.']]);
  const result = await changeWithItsSecrets(context, emr, definition);
  if (!(result instanceof NotPossible)) return seeOther(context, `connections/${emr.id}/care-units?result=saved`);
  if (result.reason === 'outdated') return seeOther(context, `connections/${emr.id}/care-units?result=outdated`);
  return again([['id', rejectionText(result)]]);
}

/** Nothing that is wrong goes untold. */
function orOfId(mistakes: readonly FieldMistake[]): readonly FieldMistake[] {
  return mistakes.length > 0 ? mistakes : [['id', 'The care unit has a mistake.']];
}

type Unit = Readonly<Record<string, unknown>>;

function unitsOf({ definition }: Pick<Connecting, 'definition'>): readonly Unit[] {
  const units = isMapping(definition) ? definition.care_units : undefined;
  return Array.isArray(units) ? units.filter(isMapping) : [];
}

function idOf(unit: Unit | undefined): string {
  return typeof unit?.id === 'string' ? unit.id : '';
}

const unitFields: readonly Field[] = schemaFields(emrInFileSchema([]).properties.care_units.items, []);

/** @param former id of the care unit that is changed. Empty: a new one */
function page(context: SignedIn, emr: Connecting, shown: ShownForm, former: string, places?: Html): ConsoleResponse {
  const isWrong = shown.mistakes.length > 0;
  const [needed, optional] = [true, false].map((it) =>
    unitFields.filter(({ isRequired, name }) => (isRequired || name === 'settings') === it),
  );
  return consolePage(context, {
    title: `${isWrong ? 'Error: ' : ''}Care units of ${emr.name}`,
    section: 'connections',
    status: isWrong ? 400 : 200,
    content: html`${isWrong && mistakeSummary('Nothing was changed.', shown.mistakes)}${stepHead(context, emr, 'care-units')}
<h2>Care units</h2>
${unitTable(context, emr)}
${unitsOf(emr).length > 0 && html`<p><a href="${linkTo(context, `connections/${emr.id}/try`)}">Go on and try it</a></p>`}
${
  places ??
  postForm(
    context,
    `connections/${emr.id}/places`,
    html`<div class="actions"><button class="secondary">Ask the EHR for its places</button></div>`,
  )
}
<h3>${former === '' ? 'New care unit' : html`Change <code>${former}</code>`}</h3>
${former === '' && html`<p class="quiet">Time zone and language are guessed: look whether they are right.</p>`}
${postForm(
  context,
  `connections/${emr.id}/care-units`,
  html`${emrVersionField(emr)}<input type="hidden" name="former" value="${former}">
${formFields(needed ?? [], shown)}
<details><summary>Optional settings</summary>${formFields(optional ?? [], shown)}</details>
<div class="actions"><button>${former === '' ? 'Add the care unit' : 'Save'}</button></div>`,
)}`,
  });
}

function unitTable(context: SignedIn, emr: Connecting): Html {
  const units = unitsOf(emr);
  if (units.length === 0) return html`<p class="empty">None yet. The EHR needs one at least.</p>`;
  return table(
    'Care units of this EHR',
    ['Care unit', 'Time zone', 'Language', 'Settings', 'Change', 'Remove'],
    units.map((unit) => [
      html`${String(unit.name ?? '')}<br><code class="quiet">${idOf(unit)}</code>`,
      String(unit.time_zone ?? ''),
      String(unit.language ?? ''),
      html`<code>${JSON.stringify(unit.settings ?? {})}</code>`,
      html`<a href="${linkTo(context, `connections/${emr.id}/care-units?unit=${encodeURIComponent(idOf(unit))}`)}">Change<span class="aside"> ${idOf(unit)}</span></a>`,
      postForm(
        context,
        `connections/${emr.id}/care-units`,
        html`${emrVersionField(emr)}<input type="hidden" name="former" value="${idOf(unit)}"><input type="hidden" name="remove" value="yes">
<button class="small secondary">Remove<span class="aside"> ${idOf(unit)}</span></button>`,
      ),
    ]),
  );
}
