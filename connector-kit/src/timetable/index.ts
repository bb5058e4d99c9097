export * from './check-recurrence.ts';
export * from './occurrences.ts';
export * from './overlap.ts';
export * from './slots.ts';
