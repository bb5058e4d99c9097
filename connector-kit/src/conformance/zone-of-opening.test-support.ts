import openTemplate from '../../template-booking/src/second.ts';
import type { Connector } from '../index.ts';

/** A connector that takes the time zone of its process, when it is opened, for that of the EHR. In UTC it is right. */
export default async (url: string): Promise<Connector> => {
  const right = await openTemplate(url);
  const minutes = new Date(Date.UTC(2030, 0, 15)).getTimezoneOffset();
  const shifted = (time: Date) => new Date(time.getTime() + minutes * 60_000);
  return {
    ...right,
    listTimeSlots: async (query) =>
      ((await right.listTimeSlots?.(query)) ?? []).map((it) => ({
        ...it,
        start: shifted(it.start),
        end: shifted(it.end),
      })),
  };
};
