import { type Html, type HtmlContent, html } from '../../html/html.ts';

interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint?: HtmlContent;
  readonly value?: string | undefined;
  /** The mistake in the value that was sent. */
  readonly problem?: string | undefined;
  /** Default: `text`. The value of a password is not sent back. */
  readonly type?: 'text' | 'url' | 'number' | 'date' | 'datetime-local' | 'password';
  /** Default: `off`. */
  readonly autocomplete?: 'off' | 'current-password' | 'new-password' | 'one-time-code';
  readonly isOptional?: boolean;
  readonly maxLength?: number;
  readonly min?: number;
  readonly max?: number;
}

/** A text field with its label, its hint and its mistake. */
export function textField({
  name,
  label,
  hint,
  value,
  problem,
  type = 'text',
  autocomplete = 'off',
  isOptional,
  maxLength,
  min,
  max,
}: Field): Html {
  const limits = [
    maxLength !== undefined && html` maxlength="${maxLength}"`,
    min !== undefined && html` min="${min}"`,
    max !== undefined && html` max="${max}"`,
    !isOptional && html` required`,
    autocomplete === 'one-time-code' && html` inputmode="numeric"`,
  ];
  return html`<label for="${name}">${label}</label>
${notes(name, hint, problem)}
<input id="${name}" name="${name}" type="${type}" value="${value ?? ''}"${limits} autocomplete="${autocomplete}" autocapitalize="off" spellcheck="false"${describedBy(name, hint, problem)}>`;
}

interface Choice {
  readonly value: string;
  readonly text: string;
}

/** A list from which one value is chosen. */
export function selectField(field: Omit<Field, 'type'>, choices: readonly Choice[]): Html {
  const { name, label, hint, value, problem, isOptional } = field;
  return html`<label for="${name}">${label}</label>
${notes(name, hint, problem)}
<select id="${name}" name="${name}"${!isOptional && html` required`}${describedBy(name, hint, problem)}>
${choices.map((it) => html`<option value="${it.value}"${it.value === value && html` selected`}>${it.text}</option>\n`)}</select>`;
}

/** Check boxes, of which any number is chosen. */
export function checkBoxes(
  { name, label, hint }: Pick<Field, 'name' | 'label' | 'hint'>,
  choices: readonly Choice[],
  chosen: readonly string[],
): Html {
  return html`<fieldset><legend>${label}</legend>
${notes(name, hint, undefined)}
${choices.map(
  ({ value, text }) =>
    html`<label class="check"><input type="checkbox" name="${name}" value="${value}"${chosen.includes(value) && html` checked`}> ${text}</label>\n`,
)}</fieldset>`;
}

function notes(name: string, hint: HtmlContent, problem: string | undefined): Html {
  return html`${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}${
    problem !== undefined && html`<p class="mistake" id="${name}-mistake">${problem}</p>`
  }`;
}

function describedBy(name: string, hint: HtmlContent, problem: string | undefined): Html | false {
  const ids = [hint && `${name}-hint`, problem !== undefined && `${name}-mistake`].filter((it) => it);
  return (
    ids.length > 0 && html` aria-describedby="${ids.join(' ')}"${problem !== undefined && html` aria-invalid="true"`}`
  );
}
