import { readTemplates } from '../../../config/templates/templates.ts';
import { html } from '../../../html/html.ts';
import { selectField, textField } from '../../frame/fields.ts';
import { consolePage, postForm } from '../../frame/frame.ts';
import { type ConsoleResponse, linkTo, type Route, type SignedIn, seeOther } from '../../frame/page.ts';
import { type FieldMistake, mistakeSummary } from '../../frame/parts.ts';
import { addEmr, rejectionText } from '../emr-actions.ts';
import { emrAdministrationOf } from './connection-parts.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'new-connection', role: 'admin', page: newConnectionPage },
  { method: 'POST', path: 'new-connection', role: 'admin', page: createDraft },
];

/** The form that begins the connection to an EHR. */
async function newConnectionPage(context: SignedIn): Promise<ConsoleResponse> {
  return firstForm(context, []);
}

/** Stores a draft with nothing but its connector. */
async function createDraft(context: SignedIn): Promise<ConsoleResponse> {
  const { form } = context.request;
  const [id, name, connector] = ['id', 'name', 'connector'].map((it) => (form.get(it) ?? '').trim());
  const mistakes = draftMistakes(context, { id, name, connector }, await kindsOf(context));
  if (mistakes.length > 0 || !id) return firstForm(context, mistakes);
  const definition = { ...(await startOf(connector ?? '')), id, name, care_units: [] };
  const rejection = await addEmr(emrAdministrationOf(context), { id, definition, isOpen: false }, {});
  if (rejection) return firstForm(context, [['id', `Id: ${rejectionText(rejection)}`]]);
  return seeOther(context, `connections/${id}/settings?result=created`);
}

interface Draft {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly connector: string | undefined;
}

function draftMistakes(
  { deps }: SignedIn,
  { id = '', name = '', connector }: Draft,
  kinds: readonly Kind[],
): readonly FieldMistake[] {
  const isTaken = deps.emrs.some((emr) => emr.id === id);
  return [
    ...(/^[a-z0-9][a-z0-9-]{0,62}$/.test(id)
      ? []
      : [['id', 'Id: must be 1 to 63 lower-case letters, digits and hyphens'] as const]),
    ...(isTaken ? [['id', 'Id: another EHR has this id'] as const] : []),
    ...(name === '' || name.length > 200 ? [['name', 'Name: must have 1 to 200 characters'] as const] : []),
    ...(kinds.some(({ value }) => value === connector) ? [] : [['connector', 'Kind of EHR: choose one'] as const]),
  ];
}

interface Kind {
  readonly value: string;
  readonly text: string;
}

const ofTemplate = 'template:';

/** What a connection can begin with: settings for the EHRs of a vendor, or a connector alone. */
async function kindsOf({ deps }: SignedIn): Promise<readonly Kind[]> {
  const templates = await readTemplates();
  return [
    ...deps.connectors.map(({ name, title }) => ({ value: name, text: title ?? name })),
    ...templates.map(({ name, title }) => ({ value: `${ofTemplate}${name}`, text: `${title} (template)` })),
  ];
}

/** The definition that a connection begins with, whose examples the operator replaces. */
async function startOf(kind: string): Promise<Readonly<Record<string, unknown>>> {
  const template = (await readTemplates()).find(({ name }) => `${ofTemplate}${name}` === kind);
  return template ? { ...template.emr } : { connector: kind, settings: {} };
}

async function firstForm(context: SignedIn, mistakes: readonly FieldMistake[]): Promise<ConsoleResponse> {
  const { form } = context.request;
  const isWrong = mistakes.length > 0;
  const field = (name: string) => ({
    name,
    value: form.get(name) ?? '',
    problem: mistakes.find(([it]) => it === name)?.[1],
  });
  return consolePage(context, {
    title: isWrong ? 'Error: New connection' : 'New connection',
    section: 'connections',
    status: isWrong ? 400 : 200,
    content: html`${isWrong && mistakeSummary('Nothing was stored.', mistakes)}
<p><a href="${linkTo(context, 'connections')}">All connections</a></p>
<h1>New connection</h1>
<p>The EHR is a draft first: it is stored, and only checks and reports call it until you open it. You can leave each step and go on later.</p>
${postForm(
  context,
  'new-connection',
  html`<div class="sheet fields">${textField({ ...field('id'), label: 'Id', hint: 'In URLs of the interface, such as north-clinic. It cannot be changed later.', maxLength: 63 })}
${textField({ ...field('name'), label: 'Name', hint: 'As clients and operators see it.', maxLength: 200 })}
${selectField(
  {
    ...field('connector'),
    label: 'Kind of EHR',
    hint: 'A connector, or a template: settings for the EHRs of a vendor, with examples that you replace.',
  },
  [{ value: '', text: 'Choose one' }, ...(await kindsOf(context))],
)}</div>
<div class="actions"><button>Go on</button></div>`,
)}`,
  });
}
