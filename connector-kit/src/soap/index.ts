export * from './message.ts';
export * from './xml.ts';
