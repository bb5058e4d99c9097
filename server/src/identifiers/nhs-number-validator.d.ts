declare module 'nhs-number-validator' {
  export function validate(nhsNumber: string): boolean;
}
