import type { ConnectorModule } from '@crossward/connector-kit';
import { isReference } from '../../../config/environment/references.ts';
import { isMapping } from '../../../config/mistakes/mistake.ts';
import { secretNames } from '../../../config/one-emr.ts';
import { neededSecrets } from '../../../ehr/stored/kept-secrets.ts';
import { type Html, html } from '../../../html/html.ts';
import { NotPossible } from '../../audit/act.ts';
import { consolePage, postForm } from '../../frame/frame.ts';
import { type ConsoleResponse, type Route, type SignedIn, seeOther } from '../../frame/page.ts';
import { type FieldMistake, mistakeSummary } from '../../frame/parts.ts';
import { changeEmr, rejectionText } from '../emr-actions.ts';
import {
  type Connecting,
  connecting,
  emrAdministrationOf,
  emrFields,
  emrVersionField,
  findConnecting,
  isResponse,
  missingSecrets,
  settingMistakes,
  stepHead,
} from './connection-parts.ts';
import { readFields, valueAt } from './read-form.ts';
import { type Field, withNested } from './schema-fields.ts';
import { formFields, mistakesInFields, type ShownForm } from './show-form.ts';

export const routes: readonly Route[] = [
  { method: 'GET', path: 'connections/:emr/settings', role: 'admin', page: settingsPage },
  { method: 'POST', path: 'connections/:emr/settings', role: 'admin', isLongForm: true, page: saveSettings },
];

async function settingsPage(context: SignedIn): Promise<ConsoleResponse> {
  const emr = await findConnecting(context);
  return isResponse(emr) ? emr : settingsForm(context, emr, { definition: emr.definition, mistakes: [] });
}

/** Stores the settings: of a draft with any mistake, of an open EHR without. */
async function saveSettings(context: SignedIn): Promise<ConsoleResponse> {
  const emr = await findConnecting(context);
  if (isResponse(emr)) return emr;
  const { form } = context.request;
  const { module, definition: stored } = emr;
  if (!module) return settingsForm(context, emr, { definition: stored, mistakes: [] });
  const fields = allFields(module);
  const [ofSettings, others] = [true, false].map((isSetting) =>
    readFields(
      fields.filter(({ at }) => (at[0] === 'settings') === isSetting),
      { form, stored, prefix: emr.id },
    ),
  );
  const again = (mistakes: readonly FieldMistake[]) =>
    settingsForm(context, emr, { definition: stored, mistakes, form });
  const unreadable = [...(ofSettings?.mistakes ?? []), ...(others?.mistakes ?? [])];
  if (unreadable.length > 0) return again(unreadable);
  const { id, connector, care_units } = isMapping(stored) ? stored : {};
  const definition = { id, ...others?.value, connector, settings: ofSettings?.value ?? {}, care_units };
  const given = { ...ofSettings?.secrets, ...others?.secrets, ...otherSecrets(definition, form) };
  const { secrets, missing, isElsewhere } = neededSecrets(definition, given, emr);
  const next = connecting(context, { ...emr, definition, secrets });
  const wrong = mistakesInFields(settingMistakes(next), fields);
  const lacking = missing.map(
    (name): FieldMistake => [
      fieldOfSecret(fields, definition, name),
      `The secret ${name} is needed${isElsewhere ? ' again, because the EHR has another address' : ''}.`,
    ],
  );
  if (emr.isOpen && (wrong.length > 0 || missing.length > 0 || next.mistakes.length > 0))
    return again(wrong.length + lacking.length > 0 ? [...wrong, ...lacking] : [['name', 'A care unit has a mistake.']]);
  const version = form.get('version') ?? '';
  const changed = await changeEmr(
    emrAdministrationOf(context),
    { id: emr.id, definition, isOpen: emr.isOpen, version },
    secrets,
    false,
  );
  if (changed instanceof NotPossible) {
    if (changed.reason === 'outdated') return seeOther(context, `connections/${emr.id}/settings?result=outdated`);
    return again([['name', rejectionText(changed)]]);
  }
  await context.deps.refreshStored();
  if (wrong.length + lacking.length === 0) return seeOther(context, `connections/${emr.id}/check?result=saved`);
  const saved = await findConnecting(context);
  return isResponse(saved)
    ? saved
    : settingsForm(context, saved, { definition, mistakes: [...wrong, ...lacking] }, true);
}

function allFields(module: ConnectorModule): readonly Field[] {
  const { first, optional } = emrFields(module);
  return [...first, ...optional];
}

/** Secrets that are in YAML, such as those of headers, have inputs of their own. */
const secretField = (name: string) => `secret:${name}`;

function otherSecrets(definition: unknown, form: URLSearchParams): Record<string, string> {
  return Object.fromEntries(
    secretNames(definition).flatMap((name) => {
      const value = form.get(secretField(name));
      return value ? [[name, value] as const] : [];
    }),
  );
}

/** The names of secrets that no input of the form is for. */
function secretsInYaml(definition: unknown, fields: readonly Field[]): readonly string[] {
  const own = new Set(fieldsWithSecrets(fields).map((field) => envOf(valueAt(definition, field.at))));
  return secretNames(definition).filter((name) => !own.has(name));
}

function fieldOfSecret(fields: readonly Field[], definition: unknown, name: string): string {
  return fieldsWithSecrets(fields).find((it) => envOf(valueAt(definition, it.at)) === name)?.name ?? secretField(name);
}

function fieldsWithSecrets(fields: readonly Field[]): readonly Field[] {
  return fields.flatMap(withNested).filter(({ kind }) => kind === 'secret');
}

function envOf(value: unknown): string | undefined {
  return isReference(value) ? value.env : undefined;
}

/** @param isStored the draft is stored, with mistakes */
function settingsForm(context: SignedIn, emr: Connecting, shown: ShownForm, isStored = false): ConsoleResponse {
  const { module, id, version, isOpen } = emr;
  const isWrong = shown.mistakes.length > 0;
  const summary = isStored ? 'The draft is stored. It still needs:' : 'Nothing was changed.';
  return consolePage(context, {
    title: `${isWrong ? 'Error: ' : ''}Settings of ${emr.name}`,
    section: 'connections',
    status: isWrong && !isStored ? 400 : 200,
    content: html`${isWrong && mistakeSummary(summary, shown.mistakes)}${stepHead(context, emr, 'settings')}
<h2>Settings</h2>
${
  module
    ? postForm(
        context,
        `connections/${id}/settings`,
        html`${emrVersionField({ version })}${inputs(emr, module, shown)}
<div class="actions"><button>${isOpen ? 'Save' : 'Save and go on'}</button></div>`,
      )
    : html`<p class="advice bad">This gateway has no connector for it.</p>`
}`,
  });
}

function inputs(emr: Connecting, module: ConnectorModule, shown: ShownForm): Html {
  const { first, optional } = emrFields(module);
  const inYaml = secretsInYaml(shown.definition, [...first, ...optional]);
  const lacking = missingSecrets(emr);
  return html`<p class="quiet">Connector <code>${module.name}</code></p>
${formFields(first, shown)}
<details${optional.some((field) => shown.mistakes.some(([name]) => name.startsWith(field.name))) && html` open`}><summary>Optional settings</summary>
${formFields(optional, shown)}</details>
${
  inYaml.length > 0 &&
  html`<fieldset><legend>Secrets named in YAML</legend>${inYaml.map(
    (name) => html`<div class="field"><label for="${secretField(name)}">${name}</label>
<p class="hint" id="${secretField(name)}-hint">${lacking.includes(name) ? 'It is not stored yet.' : 'A secret is stored. Leave this empty to keep it.'}</p>
<input id="${secretField(name)}" name="${secretField(name)}" type="password" value="" autocomplete="new-password" aria-describedby="${secretField(name)}-hint"></div>\n`,
  )}</fieldset>`
}`;
}
