import type {
  CareUnitComparison,
  ComparedPlace,
  Difference,
  DifferenceKind,
} from '../appointments/since-backup/compare.ts';

/** The comparison of one EHR. */
export interface EhrComparison {
  readonly emr: string;
  readonly careUnits: readonly CareUnitComparison[];
  /** How many operations no gateway has finished. */
  readonly unfinished: number;
}

const meanings: Record<DifferenceKind, string> = {
  unknown: 'not known: booked by the gateway after the backup, or by staff',
  changed: 'changed by the gateway after the backup, or by staff',
  cancelled: 'cancelled in the EHR',
  missing: 'no longer in the EHR',
};

/** Whether everything was compared, and nothing differs. */
export function hasNoDifference({ careUnits }: EhrComparison): boolean {
  return careUnits.every(({ differences, notCompared }) => differences.length === 0 && notCompared.length === 0);
}

export function comparisonAsJson({ emr, careUnits, unfinished }: EhrComparison): object {
  return {
    emr,
    unfinished_operations: unfinished,
    care_units: careUnits.map(({ careUnitId, differences, notCompared }) => ({
      care_unit_id: careUnitId,
      differences: differences.map(({ kind, appointmentId, inEhr, known }) => ({
        kind,
        appointment_id: appointmentId,
        in_ehr: inEhr && { state: inEhr.state, ...placeAsJson(inEhr) },
        known: known && { status: known.status, ...placeAsJson(known) },
      })),
      not_compared: notCompared,
    })),
  };
}

function placeAsJson({ start, end, resourceId }: ComparedPlace): object {
  return { start, end, resource_id: resourceId };
}

export function describeComparison({ emr, careUnits, unfinished }: EhrComparison): string {
  const hint =
    unfinished === 0
      ? ''
      : `${emr}: ${unfinished} ${unfinished === 1 ? 'operation is' : 'operations are'} not finished. ` +
        'Let a gateway finish them, and compare again: they may have booked what is not known\n';
  return careUnits.map((careUnit) => linesOf(emr, careUnit)).join('') + hint;
}

function linesOf(emr: string, { careUnitId, differences, notCompared }: CareUnitComparison): string {
  const place = `${emr}/${careUnitId}`;
  const lines = [
    ...differences.map((difference) => `${place}  ${inWords(difference)}`),
    ...notCompared.map((why) => `${place}  not compared  ${why}`),
  ];
  return `${lines.length === 0 ? `${place}  no difference` : lines.join('\n')}\n`;
}

function inWords({ kind, appointmentId, inEhr, known }: Difference): string {
  const now = inEhr ? `in the EHR ${inEhr.state} ${placeInWords(inEhr)}` : 'in the EHR none';
  const before = known ? `known as ${known.status} ${placeInWords(known)}` : 'known as none';
  return `${appointmentId}  ${meanings[kind]}  ${now}  ${before}`;
}

function placeInWords({ start, end, resourceId }: ComparedPlace): string {
  return `${start.toISOString()} to ${end?.toISOString() ?? '?'} resource ${resourceId ?? '?'}`;
}
