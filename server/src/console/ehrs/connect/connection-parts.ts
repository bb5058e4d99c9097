import type { ConnectorModule } from '@crossward/connector-kit';
import { isMapping, type Mistake } from '../../../config/mistakes/mistake.ts';
import { emrMistakes, secretNames } from '../../../config/one-emr.ts';
import { connectionSchema } from '../../../config/schema/connection.ts';
import { emrInFileSchema } from '../../../config/schema/schema.ts';
import { neededSecrets } from '../../../ehr/stored/kept-secrets.ts';
import { openRow, type StoredEmr, selectStored } from '../../../ehr/stored/stored-emrs.ts';
import { type Html, html } from '../../../html/html.ts';
import { NotPossible } from '../../audit/act.ts';
import { type ConsoleResponse, linkTo, type SignedIn, seeOther } from '../../frame/page.ts';
import { badge, notice } from '../../frame/parts.ts';
import { changeEmr, type EmrAdministration } from '../emr-actions.ts';
import { type Field, schemaFields } from './schema-fields.ts';

/** A stored EHR as the connect flow works with it. */
export interface Connecting extends StoredEmr {
  readonly name: string;
  readonly module: ConnectorModule | undefined;
  /** Of the definition as it is. */
  readonly mistakes: readonly Mistake[];
}

export function emrAdministrationOf({ deps: { services }, session }: SignedIn): EmrAdministration {
  return { db: services.db, keys: services.keys, by: session };
}

/** The stored EHR that the path names, or where to go without it. */
export async function findConnecting(context: SignedIn): Promise<Connecting | ConsoleResponse> {
  const { services } = context.deps;
  const { emr: id = '' } = context.request.params;
  const row = await selectStored(services.db).where('id', '=', id).executeTakeFirst();
  return row ? connecting(context, openRow(services.keys, row)) : seeOther(context, 'connections?result=unknown');
}

export function isResponse(found: Connecting | ConsoleResponse): found is ConsoleResponse {
  return !('definition' in found);
}

export function connecting({ deps }: SignedIn, emr: StoredEmr): Connecting {
  const { name, connector } = isMapping(emr.definition) ? emr.definition : {};
  return {
    ...emr,
    name: typeof name === 'string' ? name : emr.id,
    module: deps.connectors.find((it) => it.name === connector),
    mistakes: emrMistakes(emr.definition, deps.around, deps.connectors),
  };
}

/**
 * Stores a changed definition with the secrets that the EHR has. Returns why not: no secret goes to an address that it was not
 * given for, a row that does not open is not sealed anew, and what gateways use has no mistake.
 */
export async function changeWithItsSecrets(
  context: SignedIn,
  emr: Connecting,
  definition: Readonly<Record<string, unknown>>,
): Promise<NotPossible | undefined> {
  const { id, isOpen } = emr;
  const { secrets, missing, isElsewhere } = neededSecrets(definition, {}, emr);
  const isIncomplete = missing.length > 0 || connecting(context, { ...emr, definition }).mistakes.length > 0;
  if (!emr.secrets || isElsewhere || (isOpen && isIncomplete)) {
    return new NotPossible(
      'settings',
      'This cannot be stored without the secrets, or has a mistake. Use the page of the settings.',
    );
  }
  const version = context.request.form.get('version') ?? '';
  const result = await changeEmr(emrAdministrationOf(context), { id, definition, isOpen, version }, secrets, false);
  await context.deps.refreshStored();
  return result;
}

/** The mistakes of all but the care units. */
export function settingMistakes({ mistakes }: Connecting): readonly Mistake[] {
  return mistakes.filter(({ path, text }) => path[2] !== 'care_units' && !text.startsWith('the key "care_units"'));
}

/** Names of secrets that are not stored. */
export function missingSecrets({ definition, secrets }: Connecting): readonly string[] {
  return secretNames(definition).filter((name) => !secrets?.[name]);
}

/** The form of an EHR, without its id, its connector and its care units. */
export function emrFields(module: ConnectorModule): {
  readonly first: readonly Field[];
  readonly optional: readonly Field[];
} {
  const schema = emrInFileSchema([module]);
  const name = schemaFields(schema, []).filter(({ name: field }) => field === 'name');
  const settings = schemaFields(module.settingsSchema, ['settings']);
  const isBasic = ({ isRequired, kind, at }: Field) => isRequired || kind === 'variant' || at.at(-1) === 'auth';
  const rest = schemaFields(schema, [], ['id', 'name', 'connector', 'settings', 'care_units', 'connection']);
  return {
    first: [...name, ...settings.filter(isBasic)],
    optional: [
      ...settings.filter((field) => !isBasic(field)),
      ...rest,
      {
        kind: 'group',
        name: 'connection',
        at: ['connection'],
        label: 'Connection',
        hint: 'Time-outs, limits and retries.',
        isRequired: false,
        fields: schemaFields(connectionSchema, ['connection']),
      },
    ],
  };
}

const steps = [
  ['settings', 'Settings'],
  ['check', 'Check'],
  ['care-units', 'Care units'],
  ['try', 'Try'],
  ['open', 'Open'],
] as const;

/** The heading of each step, with the way to the others: each can be left and taken up later. */
export function stepHead(
  context: SignedIn,
  { id, name, isOpen }: Connecting,
  current: (typeof steps)[number][0],
): Html {
  return html`${resultOf(context)}<p><a href="${linkTo(context, 'connections')}">All connections</a></p>
<div class="title"><h1>${name}</h1>${isOpen ? badge('good', 'Open') : badge('notice', 'Draft: called by checks only')}</div>
<p class="quiet"><code>${id}</code></p>
<ol class="stages" aria-label="Steps">${steps.map(
    ([path, label]) =>
      html`<li><a href="${linkTo(context, `connections/${id}/${path}`)}"${path === current && html` aria-current="step"`}>${label}</a></li>\n`,
  )}</ol>`;
}

const results: Readonly<Record<string, readonly ['good' | 'bad', string]>> = {
  created: ['good', 'The draft is stored. Nothing has called the EHR yet.'],
  saved: ['good', 'The settings are stored.'],
  applied: ['good', 'The setting is stored. Check again.'],
  opened: ['good', 'The EHR is open. Gateways use it within 5 seconds. Grant it to clients next.'],
  outdated: ['bad', 'Nothing was changed: the EHR has been changed since the page was opened.'],
};

function resultOf({ request }: SignedIn): Html | false {
  const found = results[request.query.get('result') ?? ''];
  return found !== undefined && notice(...found);
}

/** In each form that changes the EHR: what its sender has seen. */
export function emrVersionField({ version }: Pick<StoredEmr, 'version'>): Html {
  return html`<input type="hidden" name="version" value="${version}">`;
}
