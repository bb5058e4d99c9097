import { isReference } from '../../../config/environment/references.ts';
import { formatPath, isMapping, type Mistake } from '../../../config/mistakes/mistake.ts';
import { onlyEmr } from '../../../config/one-emr.ts';
import { type Html, html } from '../../../html/html.ts';
import type { FieldMistake } from '../../frame/parts.ts';
import { textOf, valueAt } from './read-form.ts';
import { type ChoiceField, type Field, type ValueField, type VariantField, withNested } from './schema-fields.ts';

/** What the inputs of a form show. */
export interface ShownForm {
  readonly definition: unknown;
  readonly mistakes: readonly FieldMistake[];
  /** A form that is shown again, with texts that are in no definition. */
  readonly form?: URLSearchParams;
}

/** The inputs of fields. What is optional and empty is folded. */
export function formFields(fields: readonly Field[], shown: ShownForm): Html {
  return html`${fields.map((field) => show(field, shown))}`;
}

function show(field: Field, shown: ShownForm): Html {
  if (field.kind === 'variant') return variant(field, shown);
  if (field.kind !== 'group') return html`<div class="field">${oneInput(field, shown)}</div>\n`;
  const isOpen = field.isRequired || hasSomething(field, shown);
  return html`<details id="${field.name}"${isOpen && html` open`}><summary>${field.label}</summary>
<p class="hint">${withCode(field.hint)}</p>
<fieldset><legend class="aside">${field.label}</legend>
${formFields(field.fields, shown)}</fieldset></details>\n`;
}

/** Each form is shown, the ones that are not chosen folded: it works without scripts. */
function variant(field: VariantField, shown: ShownForm): Html {
  const { name, label, hint, variants, isRequired } = field;
  const stored = valueAt(shown.definition, field.at);
  const chosen = shown.form?.get(name) ?? (isMapping(stored) ? String(stored[field.key]) : '');
  return html`<fieldset><legend>${label}</legend>
<div class="field">${notes(field, hint, shown)}<label for="${name}">Kind</label>
<select id="${name}" name="${name}"${described(field, hint, shown)}>
${!isRequired && html`<option value="">not set</option>`}
${variants.map(({ value }) => option(value, value, value === chosen))}</select></div>
${variants
  .filter(({ fields }) => fields.length > 0)
  .map(
    ({ value, fields }) => html`<details${value === chosen && html` open`}><summary>${label}: ${value}</summary>
${formFields(fields, value === chosen ? shown : { ...shown, definition: undefined })}</details>\n`,
  )}</fieldset>\n`;
}

function oneInput(field: ValueField | ChoiceField, shown: ShownForm): Html {
  const { name, label, isRequired } = field;
  const stored = valueAt(shown.definition, field.at);
  const value = shown.form ? (shown.form.get(name) ?? '') : textOf(field, stored);
  const hint = hintOf(field, stored);
  const about = described(field, hint, shown);
  const head = html`<label for="${name}">${label}${isRequired && html` <span class="quiet">(needed)</span>`}</label>
${notes(field, hint, shown)}`;
  if (field.kind === 'choice') {
    return html`${head}<select id="${name}" name="${name}"${about}><option value="">not set</option>
${field.values.map((it) => option(JSON.stringify(it), String(it), JSON.stringify(it) === value))}</select>`;
  }
  const plain = html` autocomplete="off" autocapitalize="off" spellcheck="false"`;
  if (field.kind === 'secret') {
    return html`${head}<input id="${name}" name="${name}" type="password" value="" autocomplete="new-password"${about}>`;
  }
  if (field.kind === 'yaml' || field.kind === 'lines') {
    const rows = Math.min(12, Math.max(3, value.split('\n').length + 1));
    return html`${head}<textarea id="${name}" name="${name}" rows="${rows}"${plain}${about}>\n${value}</textarea>`;
  }
  const mode = field.kind === 'number' && html` inputmode="decimal"`;
  return html`${head}<input id="${name}" name="${name}" type="${field.kind === 'url' ? 'url' : 'text'}" value="${value}"${mode}${plain}${about}>`;
}

function hintOf({ kind, hint }: Field, stored: unknown): string {
  const more: Partial<Record<Field['kind'], string>> = {
    secret: isReference(stored)
      ? 'A secret is stored. It is not shown. Leave this empty to keep it.'
      : 'It is encrypted, and not shown again.',
    lines: 'One in each line.',
    yaml: 'In YAML.',
  };
  return [hint, more[kind] ?? ''].filter((it) => it !== '').join(' ');
}

function notes({ name }: Field, hint: string, { mistakes }: ShownForm): Html {
  const own = mistakes.filter(([field]) => field === name);
  return html`${hint !== '' && html`<p class="hint" id="${name}-hint">${withCode(hint)}</p>`}${
    own.length > 0 &&
    html`<p class="error" id="${name}-error">${own.map(([, text], index) => [index > 0 && html`<br>`, text])}</p>`
  }`;
}

/** Descriptions of settings name values between backticks. */
function withCode(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

function described({ name }: Field, hint: string, { mistakes }: ShownForm): Html | false {
  const isWrong = mistakes.some(([field]) => field === name);
  const ids = [...(hint === '' ? [] : [`${name}-hint`]), ...(isWrong ? [`${name}-error`] : [])];
  return ids.length > 0 && html` aria-describedby="${ids.join(' ')}"${isWrong && html` aria-invalid="true"`}`;
}

function option(value: string, text: string, isChosen: boolean): Html {
  return html`<option value="${value}"${isChosen && html` selected`}>${text}</option>\n`;
}

function hasSomething(field: Field, shown: ShownForm): boolean {
  if (valueAt(shown.definition, field.at) !== undefined) return true;
  return shown.mistakes.some(([name]) => name === field.name || name.startsWith(`${field.name}.`));
}

/** The mistakes of a definition, each with the field of the form that it is in. Those in no field are left out. */
export function mistakesInFields(mistakes: readonly Mistake[], fields: readonly Field[]): readonly FieldMistake[] {
  return mistakes.flatMap(({ path, text }): FieldMistake[] => {
    const place = path.slice(onlyEmr.length).map(String);
    // A missing key is a mistake of what lacks it.
    const missing = /^the key "([^"]+)" is missing/.exec(text)?.[1];
    const field = deepest(fields, missing === undefined ? place : [...place, missing]) ?? deepest(fields, place);
    return field ? [[field.name, `${formatPath(path.slice(onlyEmr.length)) || field.label}: ${text}`]] : [];
  });
}

function deepest(fields: readonly Field[], place: readonly string[]): Field | undefined {
  const all = fields.flatMap(withNested).filter(({ at }) => at.every((key, index) => place[index] === key));
  return all.toSorted((a, b) => b.at.length - a.at.length)[0];
}
