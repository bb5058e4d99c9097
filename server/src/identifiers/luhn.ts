/** Whether an even number of digits ends with its check digit by Luhn (ISO/IEC 7812-1 annex B). */
export function hasLuhnCheckDigit(digits: string): boolean {
  const sum = Array.from(digits, (digit, index) => {
    const product = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return product > 9 ? product - 9 : product;
  }).reduce((total, value) => total + value, 0);
  return sum % 10 === 0;
}
