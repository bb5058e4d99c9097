import { parseGrants } from '../../clients/grants.ts';
import type { ListedClient } from '../../clients/list-clients.ts';
import type { ConfiguredAccess } from '../../config/configuration.ts';
import { formatPath, type Mistake } from '../../config/mistakes/mistake.ts';
import { type ClientFacts, type Scope, scopes } from '../../config/schema/schema.ts';
import { type Html, type HtmlContent, html } from '../../html/html.ts';
import type { FieldMistake } from '../frame/parts.ts';

/** What the fields contain. */
export interface ClientFields {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** As `parseGrants` reads them. */
  readonly grants: readonly string[];
  /** One in each line. */
  readonly returnUrls: string;
}

export const emptyFields: ClientFields = { id: '', name: '', scopes: [], grants: [], returnUrls: '' };

/** The fields with what a client has now. Leaves out what the configuration no longer has. */
export function fieldsOf({ id, name, scopes, grants, returnUrls }: ListedClient): ClientFields {
  return {
    id,
    name,
    scopes,
    grants: grants
      .filter((grant) => grant.name !== undefined)
      .flatMap(({ emr, careUnits }) =>
        careUnits === null ? emr : careUnits.flatMap((unit) => (unit.name === undefined ? [] : `${emr}:${unit.id}`)),
      ),
    returnUrls: returnUrls.join('\n'),
  };
}

/** Reads the fields of a form that was sent. */
export function readClientFields(form: URLSearchParams): ClientFields {
  return {
    id: (form.get('id') ?? '').trim(),
    name: (form.get('name') ?? '').trim(),
    scopes: form.getAll('scope'),
    grants: form.getAll('grant'),
    returnUrls: form.get('return_urls') ?? '',
  };
}

/** What the fields say, before it is checked. */
export function factsOf({ name, scopes, grants, returnUrls }: ClientFields): Omit<ClientFacts, 'id'> {
  return {
    name,
    scopes: scopes as Scope[],
    grants: parseGrants(grants),
    return_urls: returnUrls
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  };
}

/** The fields of a client, each with its mistakes. `id`: whether it can be chosen. */
export function clientFields(
  fields: ClientFields,
  { configured, mistakes, hasId }: { configured: ConfiguredAccess; mistakes: readonly Mistake[]; hasId: boolean },
): Html {
  const errors = (name: string) => errorsOf(mistakes, name);
  return html`${
    hasId &&
    textField('id', 'Id', fields.id, {
      hint: 'The value of x-service-client-id, such as booking-site. It cannot be changed later.',
      errors: errors('id'),
    })
  }${textField('name', 'Name', fields.name, {
    hint: hasId ? 'Display name. Empty: the id.' : 'Display name.',
    errors: errors('name'),
  })}
${group(
  'scopes',
  'Scopes',
  errors('scopes'),
  scopes.map((scope) => check('scope', scope, fields.scopes, html`<code>${scope}</code>`)),
)}
<div role="group" aria-labelledby="grants"${describedByError('grants', errors('grants'))}><h2 id="grants">EHRs and care units</h2>
${errorList('grants', errors('grants'))}
${configured.emrs.map(({ id, name, care_units }) =>
  group(
    `emr-${id}`,
    `${name} (${id})`,
    [],
    [
      check('grant', id, fields.grants, html`<strong>All care units</strong>, also those added later`),
      ...care_units.map((unit) => check('grant', `${id}:${unit.id}`, fields.grants, unit.name)),
    ],
  ),
)}
</div>
<h2>Page for patients</h2>
<div class="field"><label for="return_urls">Return URLs</label>
<p class="hint" id="return_urls-hint">Where the page may link back to, one URL per line. Empty: no link.</p>
${errorList('return_urls', errors('return_urls'))}
<textarea id="return_urls" name="return_urls" rows="3" spellcheck="false" autocapitalize="off" ${described('return_urls', errors('return_urls'))}>
${fields.returnUrls}</textarea></div>`;
}

interface FieldOptions {
  readonly hint: string;
  readonly errors: readonly string[];
}

function textField(name: string, label: string, value: string, { hint, errors }: FieldOptions): Html {
  return html`<div class="field"><label for="${name}">${label}</label>
<p class="hint" id="${name}-hint">${hint}</p>
${errorList(name, errors)}
<input id="${name}" name="${name}" value="${value}" maxlength="200" autocomplete="off" autocapitalize="off" spellcheck="false" ${described(name, errors)}></div>\n`;
}

function described(name: string, errors: readonly string[]): Html {
  return errors.length === 0
    ? html`aria-describedby="${name}-hint"`
    : html`aria-describedby="${name}-hint ${name}-error" aria-invalid="true"`;
}

function errorList(name: string, errors: readonly string[]): Html | false {
  return (
    errors.length > 0 &&
    html`<p class="error" id="${name}-error">${errors.map((text, index) => [index > 0 && html`<br>`, text])}</p>`
  );
}

function group(name: string, legend: string, errors: readonly string[], checks: HtmlContent): Html {
  return html`<fieldset id="${name}"${describedByError(name, errors)}><legend>${legend}</legend>
${errorList(name, errors)}<div class="checks">${checks}</div></fieldset>\n`;
}

function describedByError(name: string, errors: readonly string[]): Html | false {
  return errors.length > 0 && html` aria-describedby="${name}-error"`;
}

function check(name: string, value: string, chosen: readonly string[], label: HtmlContent): Html {
  const checked = chosen.includes(value) && html` checked`;
  return html`<label class="check"><input type="checkbox" name="${name}" value="${value}"${checked}> <span>${label}</span></label>\n`;
}

const labels = {
  id: 'Id',
  name: 'Name',
  scopes: 'Scopes',
  grants: 'EHRs and care units',
  return_urls: 'Return URLs',
} as const;

/** The mistakes with the fields that they are in. */
export function fieldMistakes(mistakes: readonly Mistake[]): FieldMistake[] {
  return Object.entries(labels).flatMap(([field, label]) =>
    errorsOf(mistakes, field).map((text): FieldMistake => [field, `${label}: ${text}`]),
  );
}

/** The mistakes of a field. One in a list says which line it means. */
function errorsOf(mistakes: readonly Mistake[], field: string): string[] {
  return mistakes
    .filter(({ path }) => path[0] === field)
    .map(({ path: [, ...rest], text }) => {
      if (rest.length === 0) return field === 'scopes' || field === 'grants' ? 'Choose at least one.' : `It ${text}`;
      if (field === 'return_urls') return `Line ${Number(rest[0]) + 1} ${text}`;
      return field === 'grants' ? text : `${formatPath(rest)} ${text}`;
    });
}
