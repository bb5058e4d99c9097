import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Type, { type Static } from 'typebox';
import { Check } from 'typebox/value';
import { Document, isCollection, isScalar, parseDocument } from 'yaml';
import type { Path } from '../mistakes/mistake.ts';

const folder = fileURLToPath(new URL('.', import.meta.url));
const text = Type.String({ minLength: 1 });
const schema = Type.Object(
  {
    /** The EHR, for people. */
    title: text,
    /** What the settings were tried with, and what is only from documents. */
    tried: text,
    /** Where the settings are from. */
    sources: Type.Array(text, { minItems: 1 }),
    /** What to put in place of an example, by its place in the EHR: `settings.base_url`. */
    replace: Type.Record(text, text),
    /** As in the configuration file, with examples. */
    emr: Type.Object({ connector: text }),
  },
  { additionalProperties: false },
);

/** Settings for the EHRs of a vendor. */
export interface Template extends Omit<Static<typeof schema>, 'replace'> {
  /** Such as `hapi`, `gp-connect/emis`. */
  readonly name: string;
  readonly replace: readonly Replacement[];
  /** As a configuration file with its EHR alone. Comments say what it was tried with, and what to replace. */
  readonly text: string;
}

/** An example that whoever uses the template replaces. */
export interface Replacement {
  readonly path: Path;
  /** What belongs there. */
  readonly text: string;
}

/** In every template. */
const ofEveryEhr: Readonly<Record<string, string>> = {
  id: 'your id for the EHR: `{emr}` in paths',
  name: 'its name',
  'care_units.0.id': 'your id for the care unit: `{care_unit_id}` in paths',
  'care_units.0.name': 'its name, as patients read it',
  'care_units.0.time_zone': 'its time zone',
  'care_units.0.language': 'language of messages and of the page for patients: en, nb or sv',
};

/** All templates, by name. */
export async function readTemplates(): Promise<readonly Template[]> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.yaml'));
  const templates = await Promise.all(files.map(readTemplate));
  return templates.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function readTemplate(file: string): Promise<Template> {
  const document = parseDocument(await readFile(join(folder, file), 'utf8'));
  const value: unknown = document.toJS();
  if (!Check(schema, value)) throw new Error(`The template ${file} has another form`);
  const name = file.replaceAll('\\', '/').replace(/\.yaml$/, '');
  const replace = Object.entries({ ...ofEveryEhr, ...value.replace }).map(([path, what]) => ({
    path: path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
    text: what,
  }));
  const template = { ...value, name, replace };
  return { ...template, text: textOf(template, document.get('emr', true)) };
}

function textOf({ name, title, tried, sources, replace }: Omit<Template, 'text'>, emr: unknown): string {
  const document = new Document({ emrs: [emr] });
  for (const { path, text: what } of replace) {
    const full = ['emrs', 0, ...path];
    const around = full.map((_, index) => document.getIn(full.slice(0, index), true));
    // On lines of their own, which have room for comments.
    for (const collection of around) if (isCollection(collection)) collection.flow = false;
    const node = document.getIn(full, true);
    if (isScalar(node)) node.comment = ` ${what}`;
    else if (isCollection(node)) node.commentBefore = ` ${what}`;
    else throw new Error(`The template ${name} has no ${path.join('.')}`);
  }
  const sentences = tried.split(/(?<=\.) /);
  document.commentBefore = [title, ...sentences, ...sources].map((line) => ` ${line}`).join('\n');
  return document.toString({ lineWidth: 0 });
}
