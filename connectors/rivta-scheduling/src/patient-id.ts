/** `SubjectOfCareIdType`: personal, coordination and reserve numbers. */
export const subjectOfCarePattern = /^[0-9]{8}[0-9pPtTfF][0-9]{3}$/;

const prefix = 'se_personal_number:';

/** The number in a patient's id at the port. `undefined`: no patient of this EHR can have this id. */
export function subjectOf(patientId: string): string | undefined {
  const number = patientId.startsWith(prefix) ? patientId.slice(prefix.length) : '';
  return subjectOfCarePattern.test(number) ? number : undefined;
}

/** The patient's id at the port. */
export function patientIdOf(subject: string): string {
  return prefix + subject;
}

/** Whether two numbers are the same. The letter of a reserve number has no case of its own. */
export function isSameSubject(one: string | undefined, other: string): boolean {
  return one?.toUpperCase() === other.toUpperCase();
}
