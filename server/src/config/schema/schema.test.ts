import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { demoConfigurationPath } from '../file/demo.ts';
import { isMapping } from '../mistakes/mistake.ts';
import { fakeConnectors, rightFile } from '../test-support.ts';
import { publishedSchema } from './published-schema.ts';

const published: unknown = JSON.parse(publishedSchema(fakeConnectors));

function compile() {
  const ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, strictRequired: false });
  addFormats.default(ajv);
  ajv.addKeyword('errorMessage');
  return ajv.compile(published as object);
}

test('accepts the demo and checks settings by connector', async () => {
  const check = compile();
  expect(check(parse(await readFile(demoConfigurationPath, 'utf8'))), JSON.stringify(check.errors)).toBe(true);
  expect(check(parse(rightFile))).toBe(true);
  expect(check(parse(rightFile.replace('"NO"', '"DK"')))).toBe(false);
});

test('describes every property and rejects unknown ones', () => {
  const gaps: string[] = [];
  const look = (schema: unknown, path: string): void => {
    if (Array.isArray(schema)) for (const [index, item] of schema.entries()) look(item, `${path}/${index}`);
    if (!isMapping(schema)) return;
    if (isMapping(schema.properties)) {
      if (schema.additionalProperties !== false) gaps.push(`${path}: open`);
      for (const [name, property] of Object.entries(schema.properties)) {
        if (!isMapping(property) || typeof property.description !== 'string') gaps.push(`${path}/${name}`);
      }
    }
    // A connector describes its own settings.
    for (const [key, value] of Object.entries(schema))
      if (key !== 'if' && key !== 'then') look(value, `${path}/${key}`);
  };
  look(published, '');
  expect(gaps).toEqual([]);
});
