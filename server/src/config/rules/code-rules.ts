import type { Mistake, Path } from '../mistakes/mistake.ts';
import { type PoliciesInFile, resolvePolicies } from '../schema/policies.ts';
import type { PartialFile, Partially } from './partial-file.ts';

/** All codes of a length, for each attempt that a confirmation may have: guessing succeeds at most once in so many times. */
const codesPerAttempt = 10_000;

/** Codes that are too short for their attempts. A new code of the same confirmation does not reset its attempts. */
export function guessableCodes({ emrs = [] }: PartialFile): Mistake[] {
  return emrs.flatMap((emr, emrIndex) => {
    const path: Path = ['emrs', emrIndex];
    const mistake = guessableCode(path, emr?.policies);
    if (mistake) return [mistake];
    return (emr?.care_units ?? []).flatMap(
      (careUnit, index) => guessableCode([...path, 'care_units', index], careUnit?.policies, emr?.policies) ?? [],
    );
  });
}

type Layer = Partially<PoliciesInFile> | undefined;

/** Told where the codes are set, or their attempts. */
function guessableCode(path: Path, own: Layer, inherited?: Layer): Mistake | undefined {
  if (!own?.code) return undefined;
  const { length, attempts } = resolvePolicies(known(inherited), known(own)).code;
  const most = Math.floor(10 ** length / codesPerAttempt);
  // Without any, the length itself is a mistake.
  if (attempts <= most || most === 0) return undefined;
  const key = own.code.attempts === undefined && own.code.length !== undefined ? 'length' : 'attempts';
  const text = `code.attempts ${attempts} with code.length ${length} lets a code be guessed; a code of ${length} digits can have ${most === 1 ? 'one attempt' : `at most ${most} attempts`}`;
  return { path: [...path, 'policies', 'code', key], at: 'value', text };
}

/** What a layer says about codes, without values of the wrong type, which are mistakes of their own. */
function known(layer: Layer): PoliciesInFile {
  const code = Object.entries(layer?.code ?? {}).filter(([, value]) => value !== undefined);
  return { code: Object.fromEntries(code) };
}
