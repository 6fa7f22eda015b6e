// What Weka does in benchmarks/peers.py: "java -cp weka.jar:. PeerWeka table.arff EVALUATOR" prints as JSON what the first
// call takes, with the start of the machine, what later ones take, and the value of each attribute.
import java.io.FileReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import weka.attributeSelection.ASEvaluation;
import weka.attributeSelection.AttributeEvaluator;
import weka.core.Instances;

public class PeerWeka {
    static final int LATER = 5;

    public static void main(String[] arguments) throws Exception {
        var machine = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        double loaded = machine.getProcessCpuTime() / 1e9;
        double loadedSeconds = ManagementFactory.getRuntimeMXBean().getUptime() / 1e3;
        Instances table;
        try (FileReader file = new FileReader(arguments[0])) {
            table = new Instances(file);
        }
        table.setClassIndex(table.numAttributes() - 1);
        System.gc();
        Files.writeString(Path.of("/proc/self/clear_refs"), "5");
        double before = memory("VmRSS");
        double[] seconds = new double[LATER + 1], used = new double[LATER + 1];
        String values = "";
        for (int i = 0; i <= LATER; i++) {
            long cpu = machine.getProcessCpuTime(), start = System.nanoTime();
            values = evaluate(arguments[1], table);
            seconds[i] = (System.nanoTime() - start) / 1e9;
            used[i] = (machine.getProcessCpuTime() - cpu) / 1e9;
        }
        System.out.println("{\"seconds\": " + median(seconds) + ", \"cpu\": " + median(used)
            + ", \"first_seconds\": " + (loadedSeconds + seconds[0]) + ", \"first\": " + (loaded + used[0])
            + ", \"later_calls\": " + LATER + ", \"memory\": " + (memory("VmHWM") - before)
            + ", \"version\": \"" + weka.core.Version.VERSION + "\", \"values\": [" + values + "]}");
    }

    /** The median of all but the first. */
    static double median(double[] values) {
        double[] later = Arrays.copyOfRange(values, 1, values.length);
        Arrays.sort(later);
        return later[later.length / 2];
    }

    static String evaluate(String name, Instances table) throws Exception {
        ASEvaluation evaluation = ASEvaluation.forName("weka.attributeSelection." + name, new String[0]);
        evaluation.buildEvaluator(table);
        StringBuilder values = new StringBuilder();
        for (int i = 0; i < table.numAttributes() - 1; i++) {
            values.append(i == 0 ? "" : ", ").append(((AttributeEvaluator) evaluation).evaluateAttribute(i));
        }
        return values.toString();
    }

    static double memory(String field) throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith(field)) {
                return Double.parseDouble(line.split("\\s+")[1]) / 1024;
            }
        }
        throw new IllegalStateException(field);
    }
}
