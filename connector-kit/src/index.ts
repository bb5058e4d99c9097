export * from './connector.ts';
export * from './errors.ts';
export * from './http.ts';
export * from './identifiers.ts';
export * from './probe.ts';
export * from './records.ts';
export * from './secrets.ts';
export * from './time-slots.ts';
