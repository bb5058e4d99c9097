import Type from 'typebox';
import type { ConfiguredAccess } from '../configuration.ts';
import { type Mistake, quoted } from '../mistakes/mistake.ts';
import { validateAgainst } from '../mistakes/schema-mistakes.ts';
import { didYouMean } from '../mistakes/wording.ts';
import { type ClientFacts, clientFactsSchema, type Grant } from '../schema/schema.ts';
import { keyMistakes, nameMistakes } from './client-keys.ts';
import { unknownGrants } from './unknown-grants.ts';

const someFacts = Type.Partial(clientFactsSchema);

/** What is wrong with a client that an operator creates or changes: the rules of the configuration file. */
export function clientMistakes(
  facts: Partial<ClientFacts>,
  { emrs, webhooks }: Pick<ConfiguredAccess, 'emrs' | 'webhooks'>,
): Mistake[] {
  const grants = facts.grants ?? [];
  const mistakes = [
    ...validateAgainst(someFacts, facts).mistakes,
    ...nameMistakes(facts.name, ['name']),
    ...keyMistakes(facts, [], webhooks?.allow_http ?? false),
    ...unknownGrants(grants, emrs, ['grants'], notConfigured),
    ...ambiguousGrants(grants),
  ];
  // One value can break several rules with the same text.
  return [...new Map(mistakes.map((mistake) => [JSON.stringify([mistake.path, mistake.text]), mistake])).values()];
}

function notConfigured(id: string, what: string, known: readonly string[]): string {
  return `${quoted(id)} is not ${what} of the configuration, which has ${known.join(', ')}${didYouMean(id, known)}`;
}

function ambiguousGrants(grants: readonly Grant[]): Mistake[] {
  return grants.flatMap(({ emr }, index): Mistake[] => {
    if (grants.findIndex((grant) => grant.emr === emr) === index) return [];
    const text = `${quoted(emr)} is granted with all its care units and with some of them; choose one`;
    return [{ path: ['grants', index, 'emr'], at: 'value', text }];
  });
}
