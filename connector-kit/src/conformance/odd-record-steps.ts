import { given } from './expect.ts';
import type { Mend, OddRecords } from './odd-records.ts';
import type { Subject } from './subject.ts';

type Oddity = Exclude<keyof OddRecords, 'leftOut'>;

/** Why a check of an oddity is not run. */
const absent: Readonly<Record<Oddity, string>> = {
  breakAppointment: 'no appointment that cannot be read can be put into the EHR',
  breakPatient: 'no patient who cannot be read can be put into the EHR',
  breakTimeSlot: 'no time slot that cannot be read can be put into the EHR',
  nameForeignPatient: 'no appointment of another server’s patient can be put into the EHR',
  nameForeignResource: 'no appointment with another server’s resource can be put into the EHR',
  replaceByForeignPatient: 'no patient who is replaced by another server’s can be put into the EHR',
};

/** @throws NotChecked if no such record can be put into the EHR */
export function oddity<Name extends Oddity>({ oddRecords }: Subject, name: Name): NonNullable<OddRecords[Name]> {
  return given(oddRecords?.[name], absent[name]) as NonNullable<OddRecords[Name]>;
}

/** Runs while a record is odd. It is right again afterwards, so that the kit can cancel its appointment. */
export async function withOdd(odd: Promise<Mend>, run: () => Promise<void>): Promise<void> {
  const mend = await odd;
  try {
    await run();
  } finally {
    await mend();
  }
}
