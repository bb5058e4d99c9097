import type { Static, TSchema } from 'typebox';
import { Errors } from 'typebox/value';
import type { ConfiguredCareUnit } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import type { CareUnit } from '../records.ts';

/**
 * What a connector makes of the settings of its care units, which are checked at once.
 *
 * @param make may throw a ConnectorError for settings that do not suit each other. Absent: the settings as they are
 * @returns gives that of a care unit, or throws a ConnectorError `rejected` for one that is not configured
 * @throws ConnectorError `rejected` if the settings of a care unit are not as the schema says
 */
export function ofCareUnits<Schema extends TSchema, Made = Static<Schema>>(
  careUnits: readonly ConfiguredCareUnit[],
  schema: Schema,
  make: (settings: Static<Schema>, careUnit: CareUnit) => Made = (settings) => settings as Made,
): (careUnit: Pick<CareUnit, 'id'>) => Made {
  const made = new Map(careUnits.map((it) => [it.id, make(checked(schema, it), it)]));
  return ({ id }) => {
    const found = made.get(id);
    if (found === undefined) throw new ConnectorError('rejected', 'The care unit is not configured');
    return found;
  };
}

function checked<Schema extends TSchema>(schema: Schema, { id, settings = {} }: ConfiguredCareUnit): Static<Schema> {
  const errors = Errors(schema, settings);
  if (errors.length === 0) return settings as Static<Schema>;
  const words = errors.map(({ instancePath, message }) => `${instancePath} ${message}`.trim());
  throw new ConnectorError('rejected', `Care unit ${id} needs other settings: ${words.join('; ')}`);
}
