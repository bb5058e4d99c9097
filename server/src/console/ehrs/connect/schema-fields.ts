import { isMapping } from '../../../config/mistakes/mistake.ts';

/** The parts of a JSON Schema that a form is made from. */
type Schema = Readonly<Record<string, unknown>>;

interface Named {
  /** The name of the form's field, and its id on the page. */
  readonly name: string;
  /** Where the value is in the definition. */
  readonly at: readonly string[];
  readonly label: string;
  readonly hint: string;
  readonly isRequired: boolean;
}

/** One input. A value of `lines` is a list of texts, one of `yaml` anything that has no simpler input. */
export interface ValueField extends Named {
  readonly kind: 'text' | 'url' | 'number' | 'secret' | 'lines' | 'yaml';
}

/** One of several values, or none. */
export interface ChoiceField extends Named {
  readonly kind: 'choice';
  readonly values: readonly unknown[];
}

/** Settings that belong together. */
export interface GroupField extends Named {
  readonly kind: 'group';
  readonly fields: readonly Field[];
}

/** Settings of which there are several forms, told apart by one key with a constant. */
export interface VariantField extends Named {
  readonly kind: 'variant';
  readonly key: string;
  readonly variants: readonly { readonly value: string; readonly fields: readonly Field[] }[];
}

export type Field = ValueField | ChoiceField | GroupField | VariantField;

/** The fields for the properties of a schema. What a form cannot show as single inputs is one field of YAML. */
export function schemaFields(schema: object, at: readonly string[], leftOut: readonly string[] = []): readonly Field[] {
  return propertiesOf(schema as Schema)
    .filter(([key]) => !leftOut.includes(key))
    .map(([key, property, isRequired]) => fieldOf(property, [...at, key], nameOf([...at, key]), isRequired));
}

function fieldOf(schema: Schema, at: readonly string[], name: string, isRequired: boolean): Field {
  const named = { name, at, label: labelOf(at.at(-1) ?? ''), hint: hintOf(schema), isRequired };
  const values = valuesOf(schema);
  if (isSecret(schema)) return { ...named, kind: 'secret' };
  if (values) return { ...named, kind: 'choice', values };
  const variants = variantsOf(schema, at, name);
  if (variants) return { ...named, kind: 'variant', ...variants };
  if (propertiesOf(schema).length > 0) {
    const fields = propertiesOf(schema).map(([key, property, isNeeded]) =>
      fieldOf(property, [...at, key], `${name}.${key}`, isNeeded),
    );
    return { ...named, kind: 'group', fields };
  }
  return { ...named, kind: simpleKind(schema) };
}

function simpleKind({ type, format, items, pattern }: Schema): ValueField['kind'] {
  if (type === 'string') return format === 'uri' || String(pattern).startsWith('^https?') ? 'url' : 'text';
  if (type === 'number' || type === 'integer') return 'number';
  return type === 'array' && isMapping(items) && items.type === 'string' ? 'lines' : 'yaml';
}

/** All values that a schema allows, if it lists them. */
function valuesOf({ type, enum: values, const: constant, anyOf }: Schema): readonly unknown[] | undefined {
  if (type === 'boolean') return [true, false];
  if (Array.isArray(values)) return values;
  if (constant !== undefined) return [constant];
  const all = (Array.isArray(anyOf) ? anyOf : []).map((it: unknown) => (isMapping(it) ? valuesOf(it) : undefined));
  return all.length > 0 && all.every((it) => it !== undefined) ? all.flat() : undefined;
}

function variantsOf(
  { anyOf }: Schema,
  at: readonly string[],
  name: string,
): Pick<VariantField, 'key' | 'variants'> | undefined {
  const schemas = (Array.isArray(anyOf) ? anyOf : []).filter(isMapping);
  const [[key] = []] = schemas.slice(0, 1).map((schema) => propertiesOf(schema).map(([property]) => property));
  const constants = schemas.map((schema) => propertiesOf(schema).find(([property]) => property === key)?.[1].const);
  if (key === undefined || constants.some((it) => typeof it !== 'string')) return undefined;
  const variants = schemas.map((schema, index) => {
    const value = String(constants[index]);
    const fields = propertiesOf(schema)
      .filter(([property]) => property !== key)
      .map(([property, it, isNeeded]) => fieldOf(it, [...at, property], `${name}.${value}.${property}`, isNeeded));
    return { value, fields };
  });
  return { key, variants };
}

/** A secret, `{ env: NAME }`: see `secretSchema` of the connector kit. */
function isSecret(schema: Schema): boolean {
  const properties = propertiesOf(schema);
  return properties.length === 1 && properties[0]?.[0] === 'env' && properties[0][2];
}

function propertiesOf({ properties, required }: Schema): readonly (readonly [string, Schema, boolean])[] {
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(isMapping(properties) ? properties : {}).map(([key, schema]) => [
    key,
    isMapping(schema) ? schema : {},
    needed.includes(key),
  ]);
}

function nameOf(at: readonly string[]): string {
  return at.join('.');
}

/** `base_url` as `Base URL`. */
function labelOf(key: string): string {
  const words = key
    .replaceAll('_', ' ')
    .replace(/\b(url|urls|id|ids|tls|ca|sms|oid|ms)\b/g, (word) => word.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function hintOf({ description, default: usual, examples, errorMessage, minimum, maximum }: Schema): string {
  const example: unknown = Array.isArray(examples) ? examples[0] : undefined;
  const text = typeof description === 'string' ? description : '';
  return [
    text,
    typeof errorMessage === 'string' && text === '' && !errorMessage.includes('env: NAME') ? `It ${errorMessage}.` : '',
    typeof minimum === 'number' && typeof maximum === 'number' ? `From ${minimum} to ${maximum}.` : '',
    usual !== undefined && !isMapping(usual) ? `Default: ${String(usual)}.` : '',
    example !== undefined ? `Example: ${String(example)}` : '',
  ]
    .filter((it) => it !== '')
    .join(' ');
}

/** A field with those in it. */
export function withNested(field: Field): readonly Field[] {
  if (field.kind === 'group') return [field, ...field.fields.flatMap(withNested)];
  if (field.kind === 'variant') return [field, ...field.variants.flatMap(({ fields }) => fields.flatMap(withNested))];
  return [field];
}
