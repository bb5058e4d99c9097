import { expect, test } from 'vitest';
import { createPlaces } from './places.ts';

/** Takes all places that the endpoints of a client get. Returns their number. */
function fill(places: ReturnType<typeof createPlaces>, clientId: string, endpoints: number): number {
  let count = 0;
  for (let number = 0; number < endpoints; number++) {
    const endpoint = { id: `${clientId} ${number}`, clientId };
    const free = places.free(endpoint);
    places.take(endpoint, free);
    count += free;
  }
  return count;
}

test('an endpoint gets its own number of places, and those that it releases', () => {
  const places = createPlaces(256, 4);
  const endpoint = { id: 'a', clientId: 'x' };
  expect(places.free(endpoint)).toBe(4);
  places.take(endpoint, 3);
  expect(places.free(endpoint)).toBe(1);
  places.take(endpoint, 1);
  expect(places.free(endpoint)).toBe(0);
  places.release(endpoint, 2);
  expect(places.free(endpoint)).toBe(2);
});

test('a client with the usual number of endpoints gets a place for each attempt', () => {
  expect(fill(createPlaces(256, 4), 'x', 20)).toBe(80);
});

test('clients with many slow endpoints leave places for the next client', () => {
  const places = createPlaces(256, 4);
  expect(fill(places, 'x', 1000)).toBe(128);
  expect(fill(places, 'y', 1000)).toBe(64);
  for (let number = 0; number < 4; number++) fill(places, `client ${number}`, 1000);
  expect(fill(places, 'z', 1)).toBeGreaterThan(0);
});
