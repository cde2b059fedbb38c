// Draws one report from a true answer, in the browser of the person who gave it.
//
// The same steps as dpcore/local, in the same order, so that the same random bytes give the same report. A
// chance is a whole number of 1 / 2^64, given as 16 hexadecimal digits; random bytes are compared with its
// bytes, the most significant first, until one differs. No floating-point number is compared with anything.
"use strict";

// asked: {protocol, categories, script}; code: number of the true answer; take(n): n random bytes.
function drawReport(asked, code, take) {
  const given = asked.script;
  const categories = asked.categories;

  function bernoulli(threshold, size) {
    const levels = threshold.match(/../g).map((pair) => parseInt(pair, 16));
    const drawn = new Array(size).fill(false);
    let tied = [...drawn.keys()];
    for (const level of levels) {
      const bytes = take(tied.length);
      tied.forEach((place, i) => { drawn[place] = bytes[i] < level; });
      tied = tied.filter((_, i) => bytes[i] === level);
      if (tied.length === 0) break;
    }
    return drawn;
  }

  function uniform(bound) {
    const width = bound <= 256 ? 2 : 4;
    const words = 256 ** width;
    const limit = words - (words % bound);
    for (;;) {
      const word = take(width).reduce((sum, byte, i) => sum + byte * 256 ** i, 0);
      if (word < limit) return word % bound;
    }
  }

  function word() {
    return take(8).reduce((sum, byte, i) => sum | (BigInt(byte) << BigInt(8 * i)), 0n);
  }

  function parity(number) {
    let odd = false;
    for (let left = number; left; left &= left - 1) odd = !odd;
    return odd;
  }

  // The same cell, or any other alike.
  function moved(cell, cells) {
    return bernoulli(given.keep, 1)[0] ? cell : (cell + 1 + uniform(cells - 1)) % cells;
  }

  switch (asked.protocol) {
    case "randomized response":
      return moved(code, categories);
    case "symmetric unary":
    case "optimized unary": {
      const bits = bernoulli(given.no, categories);
      bits[code] = bernoulli(given.yes, 1)[0];
      return bits.map(Number).join("");
    }
    case "local hashing": {
      const a = word();
      const b = word();
      const mixed = BigInt.asUintN(64, a * BigInt(code) + b);
      const cell = Number(((mixed >> 32n) * BigInt(given.cells)) >> 32n);
      const hash = [a, b].map((half) => half.toString(16).padStart(16, "0")).join("");
      return [hash, moved(cell, given.cells)];
    }
    case "subset selection": {
      const named = new Set();
      const others = categories - 1;
      let last = others - given.size;
      if (bernoulli(given.keep, 1)[0]) {
        named.add(code);
        last += 1;
      }
      for (; last < others; last += 1) {
        const place = (code + 1 + uniform(last + 1)) % categories;
        named.add(named.has(place) ? (code + 1 + last) % categories : place);
      }
      return [...named].sort((one, other) => one - other);
    }
    case "Hadamard response": {
      const pattern = code + 1;
      const agrees = bernoulli(given.keep, 1)[0];
      const number = uniform(given.numbers);
      const lowest = pattern & -pattern;
      return parity(number & pattern) === agrees ? number ^ lowest : number;
    }
    default:
      throw new Error("unknown protocol");
  }
}
