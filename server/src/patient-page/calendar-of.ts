import type { CareUnitConnection } from '../ehr/connection.ts';
import type { Revision } from '../events/revisions.ts';
import { texts } from './all-texts.ts';
import { calendarFile, calendarUid } from './calendar-file.ts';
import type { Language } from './language.ts';
import { isInCalendar, type PageView } from './view.ts';

interface CalendarOf {
  readonly view: PageView;
  /** By the ids that callers use. */
  readonly revisions: ReadonlyMap<string, Revision>;
  readonly careUnit: CareUnitConnection;
  readonly language: Language;
  readonly now: Date;
}

/** The calendar file of the appointments of a page that were confirmed, also if they are cancelled since. `undefined`: there is none. */
export function calendarOf({ view, revisions, careUnit, language, now }: CalendarOf): string | undefined {
  const { confirmation, appointments } = view;
  if (!isInCalendar(view)) return undefined;
  const words = texts[language];
  const { name = careUnit.name, address, phone } = careUnit.patientPage;
  const change = phone === undefined ? words.change.contact : `${words.change.call} ${phone}`;
  const events = appointments.map(({ id, callersId, start, end, resource, isCancelled }) => ({
    uid: calendarUid(confirmation.id, id),
    sequence: revisions.get(callersId)?.count ?? 0,
    changedAt: revisions.get(callersId)?.lastAt,
    isCancelled,
    start,
    end,
    title: words.calendarTitle(name),
    place: address === undefined ? name : `${name}, ${address}`,
    description: [...(resource ? [`${words.resource[resource.kind]}: ${resource.name}`] : []), change].join('\n'),
  }));
  return calendarFile(events, now);
}
