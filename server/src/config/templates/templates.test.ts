import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConnectorError, type EhrHttp, turnsInProcess } from '@crossward/connector-kit';
import { Check } from 'typebox/value';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { careUnitSettings } from '../../../../connectors/fhir-r4/src/settings.ts';
import { bindConnector } from '../../ehr/bind-connector.ts';
import { connectors } from '../../ehr/connectors.ts';
import { loadConfiguration } from '../file/load.ts';
import { readTemplates } from './templates.ts';

const templates = await readTemplates();
const nobody = new Proxy({} as EhrHttp, {
  get: () => async () => {
    throw new ConnectorError('unavailable', 'Nobody is there');
  },
});

/** Loads the text as an operator would. */
async function load(text: string) {
  const folder = await mkdtemp(join(tmpdir(), 'crossward-template-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'crossward.yaml');
  const { emrs } = parse(text);
  const grants = [{ emr: emrs[0].id }];
  const clients = [{ id: 'app', secrets: [{ env: 'APP_SECRET' }], scopes: ['appointments:read'], grants }];
  const written = JSON.stringify({ emrs, clients });
  await writeFile(path, written);
  const names = [...written.matchAll(/"env":"(\w+)"/g)].map(([, name]) => name ?? '');
  const environment = Object.fromEntries(names.map((name) => [name, `${name}-of-this-test`.padEnd(43, '0')]));
  return loadConfiguration({ path, connectors, environment });
}

test('the documents list the templates', async () => {
  const document = await readFile(new URL('../../../../docs/connectors.md', import.meta.url), 'utf8');
  const rows = [...document.matchAll(/^\| `([a-z0-9/-]+)` \| (.+?) \|$/gm)].map(([, name, title]) => [name, title]);
  expect(rows).toEqual(templates.map(({ name, title }) => [name, title]));
});

test.each(templates)(
  '$name is a valid EHR, and its connector takes the settings of its care unit',
  async (template) => {
    const { text } = template;
    const [emr] = (await load(text)).emrs;
    const module = connectors.find(({ name }) => name === emr?.connector);
    if (!emr || !module) throw new Error('The template has an EHR');
    const { open } = bindConnector(
      module,
      {
        emr: emr.id,
        settings: emr.settings,
        careUnits: emr.care_units.map(({ id, time_zone, settings }) => ({ id, timeZone: time_zone, settings })),
        http: nobody,
        now: () => new Date(),
        inTurn: turnsInProcess(),
      },
      undefined,
    );
    // A connector that asks its EHR when it is opened finds nobody. A mistake in the settings would be another error.
    await open().catch((error) => expect(error).toBeInstanceOf(ConnectorError));
    if (module.name === 'fhir-r4')
      for (const unit of emr.care_units) expect(Check(careUnitSettings, unit.settings)).toBe(true);
    for (const { text: what } of template.replace) expect(text).toContain(`# ${what}\n`);
    for (const line of [template.title, ...template.sources]) expect(text).toContain(`# ${line}\n`);
  },
);

test('each example that only the operator knows is to be replaced', () => {
  for (const { name, emr, replace } of templates) {
    const examples = [...JSON.stringify(emr).matchAll(/"[^"]*(?:\.example|TENANT)[^"]*"/g)].map(([value]) => value);
    const replaced = JSON.stringify(replace.map(({ path }) => valueAt(emr, path)));
    for (const value of examples) expect(replaced, name).toContain(value);
  }
});

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((current, part) => (current as Record<string | number, unknown>)[part], value);
}
