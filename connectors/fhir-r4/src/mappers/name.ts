import { type HumanName, isCurrent } from '../fhir.ts';

const uses = ['official', 'usual', undefined, 'nickname'];

/** The best current name: https://hl7.org/fhir/R4/datatypes.html#HumanName */
export function bestName(names: readonly HumanName[] = [], now: Date): HumanName | undefined {
  const place = ({ use }: HumanName) => {
    const index = uses.indexOf(use);
    return index === -1 ? uses.length : index;
  };
  return names
    .filter(({ use, period }) => use !== 'old' && use !== 'maiden' && isCurrent(period, now))
    .toSorted((a, b) => place(a) - place(b))[0];
}

export function wholeName(names: readonly HumanName[] | undefined, now: Date): string | undefined {
  const name = bestName(names, now);
  return name?.text ?? ([...(name?.given ?? []), name?.family].filter(Boolean).join(' ') || undefined);
}
