export * from './connector.ts';
export * from './errors.ts';
export * from './identifiers.ts';
export * from './records.ts';
export * from './time-slots.ts';
