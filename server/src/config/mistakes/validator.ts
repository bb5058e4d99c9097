import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import Format from 'typebox/format';
import { identifierTypeFormats } from '../rules/identifier-type-rules.ts';

for (const [name, isValid] of Object.entries(identifierTypeFormats)) Format.Set(name, isValid);

/**
 * Compiles a schema that reports every mistake. Not strict, because connector settings can use keywords unknown to this Ajv.
 *
 * @throws Error if the schema is invalid
 */
export function compile(schema: object, { validateSchema = true } = {}): ValidateFunction {
  const ajv = new Ajv2020({ allErrors: true, verbose: true, strict: false, validateSchema, logger: false });
  addFormats.default(ajv);
  for (const [name, isValid] of Object.entries(identifierTypeFormats)) ajv.addFormat(name, isValid);
  return ajv.compile(schema);
}
