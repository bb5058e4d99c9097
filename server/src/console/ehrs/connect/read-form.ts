import { stringify } from 'yaml';
import { isReference } from '../../../config/environment/references.ts';
import { parseYaml } from '../../../config/file/yaml-file.ts';
import { isMapping } from '../../../config/mistakes/mistake.ts';
import type { FieldMistake } from '../../frame/parts.ts';
import type { Field, ValueField } from './schema-fields.ts';

/** What a form says. */
export interface FormValues {
  /** Absent: no field was filled in. */
  readonly value: Readonly<Record<string, unknown>> | undefined;
  /** New secrets by the names that the value has for them. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Text that is no YAML. */
  readonly mistakes: readonly FieldMistake[];
}

interface Reading {
  readonly form: URLSearchParams;
  /** What is stored. The names of its secrets stay. */
  readonly stored: unknown;
  /** Begins the name of a new secret. */
  readonly prefix: string;
}

/** The value of the fields in a form. An empty input is an absent value. */
export function readFields(fields: readonly Field[], reading: Reading): FormValues {
  const entries: [string, unknown][] = [];
  const secrets: Record<string, string> = {};
  const mistakes: FieldMistake[] = [];
  for (const field of fields) {
    const found = readField(field, reading);
    Object.assign(secrets, found.secrets);
    mistakes.push(...found.mistakes);
    if (found.value !== undefined) entries.push([field.at.at(-1) ?? '', found.value]);
  }
  return { value: entries.length > 0 ? Object.fromEntries(entries) : undefined, secrets, mistakes };
}

interface Found {
  readonly value: unknown;
  readonly secrets?: Readonly<Record<string, string>>;
  readonly mistakes: readonly FieldMistake[];
}

function readField(field: Field, reading: Reading): Found {
  const text = (reading.form.get(field.name) ?? '').replaceAll('\r\n', '\n');
  if (field.kind === 'group') return readFields(field.fields, reading);
  if (field.kind === 'variant') {
    const chosen = field.variants.find(({ value }) => value === text);
    if (!chosen) return { value: undefined, mistakes: [] };
    const { value, ...rest } = readFields(chosen.fields, reading);
    return { ...rest, value: { [field.key]: chosen.value, ...value } };
  }
  if (field.kind === 'choice') {
    return { value: field.values.find((it) => JSON.stringify(it) === text), mistakes: [] };
  }
  if (field.kind === 'secret') return readSecret(field, text, reading);
  if (text.trim() === '') return { value: undefined, mistakes: [] };
  return readText(field, text);
}

function readText({ kind, name, label }: ValueField, text: string): Found {
  const trimmed = text.trim();
  if (kind === 'number') return { value: Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed, mistakes: [] };
  if (kind === 'lines') {
    const lines = text.split('\n').map((line) => line.trim());
    return { value: lines.filter((line) => line !== ''), mistakes: [] };
  }
  if (kind !== 'yaml') return { value: trimmed, mistakes: [] };
  const yaml = parseYaml(text);
  if (!('mistakes' in yaml)) return { value: yaml.value, mistakes: [] };
  const wrong = yaml.mistakes.map(
    ({ position, text: what }): FieldMistake => [name, `${label}: line ${position.line}: ${what}`],
  );
  return { value: undefined, mistakes: wrong };
}

/** An empty input keeps the secret that is stored. */
function readSecret({ at }: ValueField, text: string, { stored, prefix }: Reading): Found {
  const before = valueAt(stored, at);
  if (text === '') return { value: isReference(before) ? before : undefined, mistakes: [] };
  const env = isReference(before) ? before.env : secretName(prefix, at);
  return { value: { env }, secrets: { [env]: text }, mistakes: [] };
}

/** A name for a secret: that of a variable, if the EHR is exported to a file. */
function secretName(prefix: string, at: readonly string[]): string {
  const name = [prefix, ...at.filter((it) => it !== 'settings')].join('_').replaceAll(/[^A-Za-z0-9]+/g, '_');
  return `${/^\d/.test(name) ? 'EMR_' : ''}${name}`.toUpperCase().slice(0, 128);
}

/** What a definition has at a place. `undefined`: nothing. */
export function valueAt(definition: unknown, at: readonly string[]): unknown {
  return at.reduce<unknown>(
    (value, key) => (isMapping(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    definition,
  );
}

/** A value as the text of its input. */
export function textOf({ kind }: Pick<Field, 'kind'>, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (kind === 'choice') return JSON.stringify(value);
  if (kind === 'lines' && Array.isArray(value)) return value.join('\n');
  return kind === 'yaml' || typeof value === 'object' ? stringify(value).trimEnd() : String(value);
}
