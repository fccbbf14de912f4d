// Draws scenes for scripts/learn_page.py, which puts the scripts of the explorer before this one.
const { recordings, scenes, styles } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const pictures = scenes.map((scene) => {
  const walks = scene.recordings.map((name) => new Walk(recordings[name]));
  walks.forEach((walk) => walk.go(scene.write, scene.step));
  const colouring = COLOURINGS[scene.colouring];
  const wide = 348, gap = 30, head = walks.length > 1 ? 22 : 4;
  const drawn = walks.map(({ drive, recording }) => drawDrive(drive, recording, colouring));
  const highs = drawn.map((one) => Number(/viewBox="0 0 \d+ (\d+)"/.exec(one)[1]));
  const high = head + Math.max(...highs);
  const said = walks.flatMap(({ drive, recording }) => colouring.legend(drive, recording));
  const entries = [...new Map(said.map((one) => [one.join(), one])).values()];
  let x = 6;
  const legend = entries.map(([kind, words]) => {
    const at = x;
    x += 16 + words.length * 5 + 8;
    return `<rect class="page ${kind}" x="${at}" y="${high + 2}" width="11" height="11"/>`
      + `<text x="${at + 15}" y="${high + 11}">${escaped(words)}</text>`;
  });
  const parts = drawn.map((one, which) => {
    const left = which * (wide + gap);
    const name = escaped(walks[which].recording.name);
    const place = `x="${left}" y="${head}" width="${wide}" height="${highs[which]}"`;
    return (walks.length > 1 ? `<text class="name" x="${left + 5}" y="13">${name}</text>` : "")
      + one.replace("<svg ", `<svg ${place} `);
  });
  const across = walks.length * (wide + gap) - gap;
  return '<svg xmlns="http://www.w3.org/2000/svg" class="drive" '
    + `viewBox="0 0 ${across} ${high + 18}" width="${across * 1.25}" height="${(high + 18) * 1.25}">`
    + `<style>${styles}</style><rect class="ground" width="100%" height="100%"/>`
    + `${parts.join("")}${legend.join("")}</svg>\n`;
});
process.stdout.write(JSON.stringify(pictures));
