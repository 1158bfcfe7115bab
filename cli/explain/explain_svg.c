/* SPDX-License-Identifier: MIT */
/* The picture of a sweep: two panels, a title and a legend. */
#include "explain.h"
#include "explain_picture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 900, HEIGHT = 500 };

static const svg_box MAP = {20, 66, 460, 418}, PLOT = {528, 92, 876, 368};

/* By enum ref_feature: the fill of a region, and the dark shade of what belongs to it. */
static const struct {
    const char *light, *dark;
} colours[] = {{"", ""},
               {"#fde3dd", "#b83a26"},
               {"#fdeccb", "#a5650a"},
               {"#fae1f0", "#a02d74"},
               {"#dcebfa", "#1c66a8"},
               {"#d8f1e8", "#12705b"},
               {"#e7e3f8", "#5848ad"},
               {"#fff6c4", "#7d6300"}};

static const char styles[] =
    "text{font-family:'DejaVu Sans',Verdana,Arial,sans-serif;font-size:12px;fill:#333}\n"
    ".title{font-size:15px;font-weight:bold;fill:#111}.head{fill:#444}.small{font-size:11px}\n"
    ".name{font-weight:bold;paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}\n"
    ".region{fill:#777;paint-order:stroke;stroke:#fff;stroke-opacity:.6;stroke-width:2px}\n"
    ".frame{fill:none;stroke:#999}.area{stroke:#fff;stroke-width:1.5}\n"
    ".triangle{fill:none;stroke:#222;stroke-width:2;stroke-linejoin:round}.corner{fill:#222}\n"
    ".piece{stroke-width:3.5}.tick{stroke:#222;stroke-width:1.5}.border{stroke:#888;stroke-dasharray:3 3}\n"
    "line.first,circle.first{stroke:#0b7285}line.last,circle.last{stroke:#c2255c}\n"
    "circle.first{fill:#0b7285}circle.last{fill:#c2255c}text.first{fill:#0b7285}text.last{fill:#c2255c}\n"
    ".sphere{fill-opacity:.09;stroke-width:1.8}.cut{fill-opacity:0;stroke-dasharray:5 4;stroke-width:1.3}\n"
    ".reach{stroke-width:1.2;stroke-dasharray:2 3}.root{stroke:#fff!important;stroke-width:1.5}\n"
    ".start{fill:#fff;stroke:#222;stroke-width:1.8}.contact{fill:#111;stroke:#fff;stroke-width:1.5}\n"
    ".level{stroke:#000;stroke-opacity:.09}.zero{stroke:#222;stroke-width:1.5}\n"
    ".curve{fill:none;stroke:#111;stroke-width:2.2}.number{font-size:11px;font-weight:bold;fill:#fff}\n";

void explain_badge(output *out, svg_point at, int element, int feature)
{
    char text[32];
    snprintf(text, sizeof text, "class=\"d%d\"", feature);
    svg_circle(out, at, PICTURE_BADGE, text);
    snprintf(text, sizeof text, "%d", element);
    svg_text(out, (svg_point){at.x, at.y + 4.0}, "middle", "class=\"number\"", text);
}

static void write_clip(output *out, const char *name, const svg_box *box)
{
    output_format(out, "<clipPath id=\"%s\">", name);
    svg_rectangle(out, box, "");
    output_text(out, "</clipPath>\n");
}

static void write_head(output *out, const explain_scene *scene)
{
    output_format(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
                  "role=\"img\">\n<title>%s</title>\n<style>\n%s",
                  WIDTH, HEIGHT, WIDTH, HEIGHT, scene->title, styles);
    for (int i = REF_V0; i <= REF_FACE; i++)
        output_format(out, ".r%d{fill:%s}.d%d{fill:%s}.s%d{stroke:%s}\n", i, colours[i].light, i, colours[i].dark, i,
                      colours[i].dark);
    output_text(out, "</style>\n");
    write_clip(out, "map", &MAP);
    write_clip(out, "plot", &PLOT);
    output_format(out,
                  "<rect x=\"0.5\" y=\"0.5\" width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#fff\" stroke=\"#ddd\"/>\n",
                  WIDTH - 1, HEIGHT - 1);
    svg_text(out, (svg_point){20, 30}, "start", "class=\"title\"", scene->title);
}

/* The titles of the two panels: the map and the plot of F. */
static void write_heads(output *out, const explain_scene *scene)
{
    static const char *const planes[] = {
        "The plane of the line of centres and the point P",
        "The plane along the segment and the motion",
        "The plane of the triangle, seen along its normal",
    };
    svg_text(out, (svg_point){MAP.left, MAP.top - 9}, "start", "class=\"head\"", planes[scene->dimensions]);
    svg_text(out, (svg_point){PLOT.left, MAP.top - 9}, "start", "class=\"head\"",
             "F(t) = distance² - r², a parabola per element");
}

/* ---- legend -------------------------------------------------------------------------------------------------------
 */

static void draw_line_entry(output *out, svg_point at)
{
    svg_line(out, (svg_point){at.x - 14, at.y}, (svg_point){at.x + 14, at.y}, "class=\"piece s7\"");
    explain_badge(out, at, 0, REF_FACE);
}

static void draw_sphere_entry(output *out, svg_point at)
{
    svg_circle(out, at, 9.0, "class=\"sphere first\"");
}

static void draw_cut_entry(output *out, svg_point at)
{
    svg_circle(out, at, 9.0, "class=\"cut first\"");
}

static void draw_start_entry(output *out, svg_point at)
{
    svg_circle(out, at, 4.0, "class=\"start\"");
}

static void draw_contact_entry(output *out, svg_point at)
{
    svg_circle(out, at, 4.5, "class=\"contact\"");
}

static void draw_root_entry(output *out, svg_point at)
{
    svg_circle(out, at, 4.5, "class=\"root first\"");
}

static void draw_end_entry(output *out, svg_point at)
{
    svg_line(out, (svg_point){at.x, at.y - 9}, (svg_point){at.x, at.y + 9}, "class=\"border\"");
}

/* What the picture shows, in lines from left to right. */
static void write_legend(output *out, const explain_scene *s)
{
    const struct {
        int shown;
        const char *text;
        void (*draw)(output *out, svg_point at);
    } entries[] = {
        {s->moves, "line of centres, with element numbers", draw_line_entry},
        {s->moves, "centre at time 0", draw_start_entry},
        {s->radius > 0.0, s->touches ? "sphere at T0, T1" : "sphere", draw_sphere_entry},
        {s->radius > 0.0, "its cut with this plane", draw_cut_entry},
        {s->touches, "contact point", draw_contact_entry},
        {s->touches, "root of F", draw_root_entry},
        {s->partition->count > 1, "end of an element", draw_end_entry},
    };
    const double left = MAP.left + 14.0;
    svg_point at = {left, 444.0};
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (!entries[i].shown)
            continue;
        const svg_box word = svg_text_box(entries[i].text, 10.5, (svg_point){0, 0});
        const double width = 20.0 + word.right - word.left;
        if (at.x + width > PLOT.right) {
            at.x = left;
            at.y += 28.0;
        }
        entries[i].draw(out, at);
        svg_text(out, (svg_point){at.x + 20.0, at.y + 4.0}, "start", "class=\"small\"", entries[i].text);
        at.x += width + 24.0;
    }
}

void explain_svg(output *out, uint64_t row, const ref_sweep_case *c, const ref_partition *partition)
{
    explain_scene *scene = malloc(sizeof *scene);
    if (!scene) {
        out->error = ENOMEM;
        return;
    }
    explain_scene_set(scene, row, c, partition);
    write_head(out, scene);
    write_heads(out, scene);
    explain_map(out, scene, &MAP);
    explain_plot(out, scene, &PLOT);
    write_legend(out, scene);
    output_text(out, "</svg>\n");
    free(scene);
}
