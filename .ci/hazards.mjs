// The hazard log in docs/safety/hazards.yaml.
import { namedTests, sectionsOf } from './named-tests.mjs';

export const severities = ['minor', 'significant', 'considerable', 'major', 'catastrophic'];

/** The risk by likelihood, in the order of `severities`: the matrix of the guidance to DCB0129. */
export const matrix = {
  'very high': [3, 4, 4, 5, 5],
  high: [2, 3, 3, 4, 5],
  medium: [2, 2, 3, 3, 4],
  low: [1, 2, 2, 3, 4],
  'very low': [1, 1, 2, 2, 3],
};

const texts = ['hazard', 'causes', 'effect', 'existing', 'residual', 'acts'];

/** `{ name, hazards: [{ id, hazard, …, before, after, controls: [{ control, tests: [{ file, titles }] }] }] }`. */
export function readHazards() {
  return sectionsOf('docs/safety/hazards.yaml').map(({ name, entries }) => ({
    name,
    hazards: entries.map(([id, { before, after, controls = [], ...facts }]) => ({
      id,
      ...facts,
      before: { ...before, risk: riskOf(before) },
      after: { ...after, risk: riskOf(after) },
      controls: controls.map(({ control, tests }) => ({ control, tests: namedTests(tests) })),
    })),
  }));
}

/** What is missing or contradicts itself in a hazard, in words. */
export function faultsIn(hazard) {
  const { before, after, controls } = hazard;
  return [
    ...texts.filter((name) => !hazard[name]).map((name) => `${name} is missing`),
    ...(before.risk && after.risk ? [] : ['severity or likelihood is not one of the matrix']),
    ...(after.risk > before.risk ? ['the risk is higher with the controls'] : []),
    ...(after.risk > 3 ? ['the risk that remains is not acceptable'] : []),
    ...(controls.length > 0 ? [] : ['no control']),
    ...controls.filter(({ control, tests }) => !control || tests.length === 0).map(() => 'a control names no test'),
  ];
}

function riskOf({ severity, likelihood } = {}) {
  return matrix[likelihood]?.[severities.indexOf(severity)];
}
